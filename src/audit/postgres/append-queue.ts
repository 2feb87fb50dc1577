import type { RowAnchor } from "../audit-row.ts";
import type { AppendCall } from "./append-batch.ts";
import { isAboutData } from "./sql-error.ts";

/** A batch takes the calls that wait, up to so many entries and characters; at least one call. */
const BATCH_ENTRIES = 1000;
const BATCH_LENGTH = 4 * 1024 * 1024;

interface WaitingCall extends AppendCall {
  /** About how many bytes it holds. */
  readonly bytes: number;
  readonly resolve: (anchor: RowAnchor) => void;
  readonly reject: (error: unknown) => void;
}

export interface AppendQueueOptions {
  /** Stores calls in their order, all or none, and answers each. */
  readonly write: (calls: readonly AppendCall[]) => Promise<readonly RowAnchor[]>;
  /** Each call gets a transaction of its own. */
  readonly each: boolean;
}

/**
 * Calls in the order they came, the waiting ones going together into the next transaction.
 *
 * When one fails, so does everything queued behind it: else rows of a thread would change places when
 * their callers try again. An error that is about what is written hits the one call alone.
 */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  #waiting: WaitingCall[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  /** Bytes not yet stored, those of the running transaction included. */
  get bytes(): number {
    return this.#bytes;
  }

  push(call: AppendCall): Promise<RowAnchor> {
    return new Promise((resolve, reject) => {
      const bytes = sizeOf(call);
      this.#waiting.push({ ...call, bytes, resolve, reject });
      this.#bytes += bytes;
      // Not at once: the other calls of this moment shall go into the same transaction.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing waits and nothing is being stored. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0, this.#batchLength());
      try {
        await this.#store(calls);
      } catch (error) {
        const behind = this.#waiting;
        this.#waiting = [];
        this.#reject(behind, error);
      }
    }
    this.#running = undefined;
  }

  /** @throws what failed, once the calls were told; unless it was about what they bring. */
  async #store(calls: readonly WaitingCall[]): Promise<void> {
    let anchors: readonly RowAnchor[];
    try {
      anchors = await this.#options.write(calls);
    } catch (error) {
      if (isAboutData(error) && calls.length > 1) return this.#storeHalves(calls);
      this.#reject(calls, error);
      if (isAboutData(error)) return;
      throw error;
    }
    this.#done(calls);
    for (const [index, call] of calls.entries()) {
      const anchor = anchors[index];
      if (anchor === undefined) call.reject(new Error("audit log: a call without an answer"));
      else call.resolve(anchor);
    }
  }

  /** One of the calls can't be stored: the others shall not suffer for it. */
  async #storeHalves(calls: readonly WaitingCall[]): Promise<void> {
    const half = Math.ceil(calls.length / 2);
    const rest = calls.slice(half);
    try {
      await this.#store(calls.slice(0, half));
    } catch (error) {
      this.#reject(rest, error);
      throw error;
    }
    await this.#store(rest);
  }

  #reject(calls: readonly WaitingCall[], error: unknown): void {
    this.#done(calls);
    for (const call of calls) call.reject(error);
  }

  #batchLength(): number {
    if (this.#options.each) return 1;
    let entries = 0;
    let length = 0;
    for (const [index, call] of this.#waiting.entries()) {
      entries += call.entries.length;
      length += call.bytes;
      if (index > 0 && (entries > BATCH_ENTRIES || length > BATCH_LENGTH)) return index;
    }
    return this.#waiting.length;
  }

  #done(calls: readonly WaitingCall[]): void {
    for (const { bytes } of calls) this.#bytes -= bytes;
  }
}

/** An entry's text may be one byte or two a character; what stands around it counts for little. */
function sizeOf({ entries }: AppendCall): number {
  let bytes = 256;
  for (const { event_text } of entries) bytes += 512 + event_text.length;
  return bytes;
}
