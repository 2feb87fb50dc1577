import type { RowAnchor } from "../audit-row.ts";
import type { AppendCall } from "./append-batch.ts";

/** A transaction takes waiting calls up to this many entries and bytes, and at least one call. */
const BATCH_ENTRIES = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;

/** A call that waits for its answer. */
export class WaitingCall implements AppendCall {
  readonly thread: AppendCall["thread"];
  readonly entries: AppendCall["entries"];
  readonly bytes: number;
  readonly answered: Promise<RowAnchor>;
  /** Its answer, or the error for which it alone was refused. `undefined` while neither is known. */
  outcome: RowAnchor | Error | undefined;
  /** Whether it waits for a locked thread. */
  isHeldBack = false;
  #resolve: (anchor: RowAnchor) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor({ entries, thread }: AppendCall) {
    this.thread = thread;
    this.entries = entries;
    this.bytes = sizeOf(entries);
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Settles the caller's promise with the outcome, or with `failure` if there is none. */
  settle(failure: Error | undefined): void {
    const outcome = this.outcome ?? failure ?? new Error("audit log: a call without an answer");
    if (outcome instanceof Error) this.#reject(outcome);
    else this.#resolve(outcome);
  }
}

/** Calls that go into one transaction. */
export class CallBatch {
  readonly calls: WaitingCall[] = [];
  bytes = 0;
  #entries = 0;
  readonly #each: boolean;

  /** @param each the batch holds one call. */
  constructor(each: boolean) {
    this.#each = each;
  }

  hasRoomFor(call: WaitingCall): boolean {
    return (
      !this.#each &&
      this.#entries + call.entries.length <= BATCH_ENTRIES &&
      this.bytes + call.bytes <= BATCH_BYTES
    );
  }

  add(call: WaitingCall): void {
    this.calls.push(call);
    this.bytes += call.bytes;
    this.#entries += call.entries.length;
  }
}

/** An estimate: a character takes one or two bytes, and the rest of a row is small. */
function sizeOf(entries: AppendCall["entries"]): number {
  let bytes = 256;
  for (const { event_text } of entries) bytes += 512 + event_text.length;
  return bytes;
}
