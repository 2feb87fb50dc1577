import type { RowAnchor } from "../audit-row.ts";
import { type CommitBatch, CommitQueue } from "../storage/commit-queue.ts";
import type { AppendCall } from "./append-batch.ts";
import { CallBatch, WaitingCall } from "./call-batch.ts";
import { LockedThreads, SHORT_WAIT_MS } from "./locked-threads.ts";
import { storeCalls } from "./store-calls.ts";

export interface AppendQueueOptions {
  /**
   * Stores calls in their order, all or none but those of locked threads, and answers each: `undefined`
   * where its thread is locked.
   *
   * @param waitMs how long one lock is waited for where no thread can be had.
   */
  readonly write: (
    calls: readonly AppendCall[],
    waitMs: number,
  ) => Promise<readonly (RowAnchor | undefined)[]>;
  /** Each call gets a transaction of its own. */
  readonly each: boolean;
  /** For how long the calls of a thread wait while it is locked and none is stored, in ms. */
  readonly lockMs: number;
  /** Bytes of calls that may wait for locked threads. */
  readonly maxLockedBytes: number;
}

/**
 * Appends in the order of the calls; those that wait go together into the next transaction.
 *
 * When one fails, so does everything queued behind it: else rows of a thread would change places when
 * their callers try again. An error about the data of one call hits that call alone. A thread that another
 * transaction has locked is left out: its calls, and all that come for it, wait beside the queue.
 */
export class AppendQueue {
  readonly #queue: CommitQueue<WaitingCall>;
  readonly #locked: LockedThreads;
  /** Those that wait or are being written, in their order. */
  readonly #transactions = new Set<Transaction>();

  constructor(options: AppendQueueOptions) {
    this.#locked = new LockedThreads(options);
    const write = (calls: readonly AppendCall[]) => options.write(calls, SHORT_WAIT_MS);
    this.#queue = new CommitQueue({
      newBatch: () => {
        const transaction: Transaction = new Transaction(options.each, {
          store: (calls) =>
            storeCalls(calls, {
              write,
              isWaiting: isUnanswered,
              done: (calls) => this.#holdBack(calls.filter(isUnanswered)),
              dividesLocked: false,
            }),
          settled: () => void this.#transactions.delete(transaction),
        });
        this.#transactions.add(transaction);
        return transaction;
      },
      failBehind: true,
    });
  }

  /** Bytes not yet stored, those of the running transactions included. */
  get bytes(): number {
    return this.#queue.bytes + this.#locked.bytes;
  }

  /** Threads that wait for the lock of another transaction. */
  get lockedThreads(): number {
    return this.#locked.count;
  }

  push(call: AppendCall): Promise<RowAnchor> {
    const waiting = new WaitingCall(call);
    if (this.#locked.has(call.thread)) this.#locked.add(waiting);
    else this.#queue.push(waiting);
    return waiting.answered;
  }

  /** Resolves when nothing waits and nothing is being stored. */
  async drained(): Promise<void> {
    while (!this.#queue.idle || this.#locked.count > 0) {
      await this.#queue.drained();
      await this.#locked.drained();
    }
  }

  /** All calls of a thread, so that they stay in their order. */
  #holdBack(calls: readonly WaitingCall[]): void {
    if (calls.length === 0) return;
    const threads = new Set(calls.map(({ thread }) => thread.name));
    for (const transaction of this.#transactions) {
      for (const call of transaction.unanswered) {
        if (threads.has(call.thread.name)) this.#locked.add(call);
      }
    }
  }
}

interface TransactionOptions {
  readonly store: (calls: readonly WaitingCall[]) => Promise<void>;
  readonly settled: () => void;
}

class Transaction implements CommitBatch<WaitingCall> {
  readonly #batch: CallBatch;
  readonly #options: TransactionOptions;

  constructor(each: boolean, options: TransactionOptions) {
    this.#batch = new CallBatch(each);
    this.#options = options;
  }

  /** Also of the calls that were held back since: the queue has counted them. */
  get bytes(): number {
    return this.#batch.bytes;
  }

  /** Calls that have no answer and were not held back. */
  get unanswered(): WaitingCall[] {
    return this.#batch.calls.filter(isUnanswered);
  }

  hasRoomFor(call: WaitingCall): boolean {
    return this.#batch.hasRoomFor(call);
  }

  add(call: WaitingCall): void {
    this.#batch.add(call);
  }

  write(): Promise<void> {
    return this.#options.store(this.#batch.calls);
  }

  settle(failure: Error | undefined): void {
    this.#options.settled();
    for (const call of this.#batch.calls) if (!call.isHeldBack) call.settle(failure);
  }
}

function isUnanswered({ isHeldBack, outcome }: WaitingCall): boolean {
  return !isHeldBack && outcome === undefined;
}
