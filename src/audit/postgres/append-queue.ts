import type { RowAnchor } from "../audit-row.ts";
import { type CommitBatch, CommitQueue } from "../storage/commit-queue.ts";
import type { AppendCall } from "./append-batch.ts";
import { CallBatch, WaitingCall } from "./call-batch.ts";
import { LockedThreads, SHORT_WAIT_MS } from "./locked-threads.ts";
import { storeCalls } from "./store-calls.ts";

export interface AppendQueueOptions {
  /**
   * Stores calls in their order, all or none, except those of locked threads. Answers each call: `undefined` if its
   * thread is locked.
   *
   * @param waitMs how long to wait for one lock if every thread is locked.
   */
  readonly write: (
    calls: readonly AppendCall[],
    waitMs: number,
  ) => Promise<readonly (RowAnchor | undefined)[]>;
  /** Each call gets its own transaction. */
  readonly each: boolean;
  /** How long the calls of a locked thread wait while none of them is stored, in ms. */
  readonly lockMs: number;
  /** Most bytes of calls that wait for locked threads. */
  readonly maxLockedBytes: number;
}

/**
 * Appends in the order of the calls. Calls that wait share the next transaction.
 *
 * If a call fails, all calls queued behind it fail as well. Otherwise a retry would change the order of a thread's
 * rows. An error about the data of one call fails that call alone. If another transaction has locked a thread, its
 * calls, present and later ones, wait outside the queue.
 */
export class AppendQueue {
  readonly #queue: CommitQueue<WaitingCall>;
  readonly #locked: LockedThreads;
  /** Transactions that wait or are being written, in order. */
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

  /** Bytes that are not stored yet, including those being written. */
  get bytes(): number {
    return this.#queue.bytes + this.#locked.bytes;
  }

  /** Threads that are locked by another transaction. */
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

  /** All calls of a thread, to keep their order. */
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

  /** Including the calls held back since, because the queue has counted them. */
  get bytes(): number {
    return this.#batch.bytes;
  }

  /** Calls that have no answer and are not held back. */
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
