import { type CommitBatch, CommitQueue } from "../../storage/commit-queue.ts";
import { asError } from "../../storage/system-error.ts";
import type { RowAnchor } from "../audit-row.ts";
import type { AppendCall } from "./append-batch.ts";
import { isAboutData } from "./pg-pool.ts";

/** A transaction takes the calls that wait, up to this many entries and bytes; at least one call. */
const BATCH_ENTRIES = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;

interface WaitingCall extends AppendCall {
  /** Its answer, or why it alone was refused; `undefined` as long as neither is known. */
  outcome?: RowAnchor | Error | undefined;
}

export interface AppendQueueOptions {
  /** Stores calls in their order, all or none, and answers each. */
  readonly write: (calls: readonly AppendCall[]) => Promise<readonly RowAnchor[]>;
  /** Each call gets a transaction of its own. */
  readonly each: boolean;
}

/**
 * Appends in the order of the calls; those that wait go together into the next transaction.
 *
 * When one fails, so does everything queued behind it: else rows of a thread would change places when
 * their callers try again. An error about the data of one call hits that call alone.
 */
export class AppendQueue {
  readonly #queue: CommitQueue<WaitingCall>;

  constructor(options: AppendQueueOptions) {
    this.#queue = new CommitQueue({
      newBatch: () => new Transaction(options),
      failBehind: true,
    });
  }

  /** Bytes not yet stored, those of the running transaction included. */
  get bytes(): number {
    return this.#queue.bytes;
  }

  async push({ entries, thread }: AppendCall): Promise<RowAnchor> {
    const call: WaitingCall = { thread, entries };
    try {
      await this.#queue.push(call).written;
    } catch (error) {
      if (call.outcome === undefined) throw error;
    }
    if (call.outcome === undefined) throw new Error("audit log: a call without an answer");
    if (call.outcome instanceof Error) throw call.outcome;
    return call.outcome;
  }

  /** Resolves when nothing waits and nothing is being stored. */
  drained(): Promise<void> {
    return this.#queue.drained();
  }
}

class Transaction implements CommitBatch<WaitingCall> {
  readonly #options: AppendQueueOptions;
  readonly #calls: WaitingCall[] = [];
  #bytes = 0;
  #entries = 0;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  hasRoomFor(call: WaitingCall): boolean {
    return (
      !this.#options.each &&
      this.#entries + call.entries.length <= BATCH_ENTRIES &&
      this.#bytes + sizeOf(call) <= BATCH_BYTES
    );
  }

  add(call: WaitingCall): void {
    this.#calls.push(call);
    this.#bytes += sizeOf(call);
    this.#entries += call.entries.length;
  }

  write(): Promise<void> {
    return this.#store(this.#calls);
  }

  /** @throws what failed, unless it was about the data of a single call. */
  async #store(calls: readonly WaitingCall[]): Promise<void> {
    try {
      const anchors = await this.#options.write(calls);
      for (const [index, call] of calls.entries()) call.outcome = anchors[index];
    } catch (error) {
      if (!isAboutData(error)) throw error;
      const [only] = calls;
      if (only === undefined || calls.length > 1) return this.#storeHalves(calls);
      only.outcome = asError(error);
    }
  }

  /** One of the calls can't be stored: the others shall not suffer for it. */
  async #storeHalves(calls: readonly WaitingCall[]): Promise<void> {
    const half = Math.ceil(calls.length / 2);
    await this.#store(calls.slice(0, half));
    await this.#store(calls.slice(half));
  }
}

/** An entry's text may be one byte or two a character; what stands around it counts for little. */
function sizeOf({ entries }: AppendCall): number {
  let bytes = 256;
  for (const { event_text } of entries) bytes += 512 + event_text.length;
  return bytes;
}
