import { setTimeout as sleep } from "node:timers/promises";
import { asError } from "../../events/door.ts";
import type { NamedThread } from "../audit-row.ts";
import type { AppendQueueOptions } from "./append-queue.ts";
import { CallBatch, type WaitingCall } from "./call-batch.ts";
import { pauseMs } from "./pg-pool.ts";
import { storeCalls } from "./store-calls.ts";

/**
 * How long a transaction waits for a thread's lock if every thread is locked, in ms. It is as long as other writers
 * hold a lock, so that they get their turn. Calls that are not held back wait meanwhile.
 */
export const SHORT_WAIT_MS = 50;
/** The same for a thread that is held back. Meanwhile it takes one connection. */
export const LOCK_WAIT_MS = 250;
/** Waits after which a thread counts as stuck. A writer of rows never holds a lock that long. */
const STUCK_AFTER = 2;

/** How many threads that go alone are tried at a time. Each takes {@link SHORT_WAIT_MS}. */
const ALONE_AT_A_TIME = 4;

/** A locked thread and its calls, in their order. */
interface LockedThread {
  readonly thread: NamedThread;
  calls: WaitingCall[];
  /** When it was found locked, or when one of its calls was stored last. */
  sinceMs: number;
  /** How often waiting for its lock timed out. */
  waits: number;
  /**
   * It met a lock that no transaction can leave out: another transaction is creating the thread, or has locked a
   * table. It would hold back the other calls of its transaction.
   */
  goesAlone: boolean;
}

/**
 * Calls of threads that another transaction has locked. They are retried on one connection, beside the calls of other
 * threads. If every thread is locked, a transaction waits for one of them, in turn. Threads that other writers may
 * hold come first. A thread stays here until none of its calls waits.
 */
export class LockedThreads {
  readonly #options: AppendQueueOptions;
  /** By name, in the order of their last attempt. */
  readonly #threads = new Map<string, LockedThread>();
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  /** Bytes of the calls that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#threads.size;
  }

  has({ name }: NamedThread): boolean {
    return this.#threads.has(name);
  }

  /** Takes a call, or refuses it if too many bytes wait. */
  add(call: WaitingCall): void {
    const { maxLockedBytes } = this.#options;
    const { bytes, thread } = call;
    call.isHeldBack = true;
    if (this.#bytes > 0 && this.#bytes + bytes > maxLockedBytes) {
      call.settle(tooMuch(thread, this.#bytes, maxLockedBytes));
      return;
    }
    const locked = this.#threads.get(thread.name);
    if (locked !== undefined) locked.calls.push(call);
    else {
      const sinceMs = performance.now();
      this.#threads.set(thread.name, {
        thread,
        calls: [call],
        sinceMs,
        waits: 0,
        goesAlone: false,
      });
    }
    this.#bytes += bytes;
    // Deferred, so that other threads of the same moment are tried with it.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /** Resolves when no thread waits. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    for (let failed = 0; this.#threads.size > 0; ) {
      const isStored = await this.#tryAll();
      const areStuck = [...this.#threads.values()].every(isStuck);
      failed = !isStored && areStuck ? failed + 1 : 0;
      if (failed > 0 && this.#threads.size > 0) await sleep(pauseMs(failed) / 2);
    }
    this.#running = undefined;
  }

  /** @returns whether anything was stored. */
  async #tryAll(): Promise<boolean> {
    const threads = [...this.#threads.values()];
    const alone = threads.filter(({ goesAlone }) => goesAlone).slice(0, ALONE_AT_A_TIME);
    const together = threads.filter(({ goesAlone }) => !goesAlone);
    const inTurn = [...together.filter((one) => !isStuck(one)), ...together.filter(isStuck)];
    const [first, ...others] = this.#batches(inTurn);
    const [waitedFor] = inTurn;
    let isStored = false;
    for (const one of alone) {
      const [batch = []] = this.#batches([one]);
      isStored = (await this.#try(batch, SHORT_WAIT_MS)) || isStored;
    }
    for (const batch of others) isStored = (await this.#try(batch, 0)) || isStored;
    if (first === undefined || waitedFor === undefined) return isStored;
    const waitMs = isStuck(waitedFor) ? SHORT_WAIT_MS : LOCK_WAIT_MS;
    if (await this.#try(first, isStored ? 0 : waitMs)) return true;
    if (!isStored) waitedFor.waits += 1;
    return isStored;
  }

  /**
   * The next attempts: for each thread the calls that fit into a transaction, or only the first call if it is stuck.
   */
  #batches(threads: readonly LockedThread[]): readonly (readonly WaitingCall[])[] {
    const batches: CallBatch[] = [];
    let batch: CallBatch | undefined;
    for (const thread of threads) {
      for (const [index, call] of thread.calls.entries()) {
        const fits = batch?.hasRoomFor(call) === true;
        // All calls in one transaction: a call must not be stored before an earlier one of its thread.
        if (index > 0 && (isStuck(thread) || !fits)) break;
        if (batch === undefined || !fits) {
          batch = new CallBatch(this.#options.each);
          batches.push(batch);
        }
        batch.add(call);
      }
    }
    return batches.map(({ calls }) => calls);
  }

  async #try(calls: readonly WaitingCall[], waitMs: number): Promise<boolean> {
    const leftOut = new Set<string>();
    let left = waitMs;
    let stored = false;
    try {
      await storeCalls(calls, {
        write: (waiting) => {
          const wait = left;
          // The halves of a batch, when storeCalls looks for a lock.
          left = SHORT_WAIT_MS;
          return this.#options.write(waiting, wait);
        },
        isWaiting: ({ outcome, thread }) => outcome === undefined && !leftOut.has(thread.name),
        done: (done, metLock) => {
          for (const { outcome, thread } of done) {
            if (outcome === undefined) leftOut.add(thread.name);
            else stored = true;
          }
          if (metLock) this.#setAlone(done);
          this.#take(done);
          this.#giveUp();
        },
        dividesLocked: true,
      });
    } catch (error) {
      for (const { outcome, thread } of calls) {
        const locked = this.#threads.get(thread.name);
        if (outcome !== undefined || leftOut.has(thread.name) || locked === undefined) continue;
        this.#fail(locked, asError(error));
      }
    }
    return stored;
  }

  /** Settles the calls that have an answer. The other calls keep their order, and their threads move to the end. */
  #take(calls: readonly WaitingCall[]): void {
    const answered = new Set<string>();
    for (const call of calls) {
      if (call.outcome === undefined) continue;
      answered.add(call.thread.name);
      this.#settle(call, undefined);
    }
    for (const name of new Set(calls.map(({ thread }) => thread.name))) {
      const locked = this.#threads.get(name);
      if (locked === undefined) continue;
      this.#threads.delete(name);
      if (answered.has(name)) {
        // The other threads may have met the same lock on a table.
        if (locked.goesAlone) for (const other of this.#threads.values()) other.goesAlone = false;
        locked.goesAlone = false;
        locked.waits = 0;
        locked.calls = locked.calls.filter(({ outcome }) => outcome === undefined);
        locked.sinceMs = performance.now();
      }
      if (locked.calls.length > 0) this.#threads.set(name, locked);
    }
  }

  #setAlone(calls: readonly WaitingCall[]): void {
    for (const { thread } of calls) {
      const locked = this.#threads.get(thread.name);
      if (locked !== undefined) locked.goesAlone = true;
    }
  }

  /** Refuses the calls of threads that were locked for too long. */
  #giveUp(): void {
    const { lockMs } = this.#options;
    const now = performance.now();
    for (const locked of [...this.#threads.values()]) {
      if (now - locked.sinceMs < lockMs) continue;
      this.#fail(
        locked,
        lockedTooLong(locked.thread, lockMs, "the rows that waited were not stored"),
      );
    }
  }

  /** Refuses all calls of a thread. Otherwise later calls would be stored before refused ones. */
  #fail({ calls, thread }: LockedThread, error: Error): void {
    this.#threads.delete(thread.name);
    for (const call of calls) {
      call.outcome = error;
      this.#settle(call, error);
    }
  }

  #settle(call: WaitingCall, failure: Error | undefined): void {
    this.#bytes -= call.bytes;
    call.settle(failure);
  }
}

function isStuck({ goesAlone, waits }: LockedThread): boolean {
  return goesAlone || waits >= STUCK_AFTER;
}

/** @param outcome the operation that was not done. */
export function lockedTooLong(thread: NamedThread, ms: number, outcome: string): Error {
  return new Error(
    `audit log: ${nameOf(thread)}: for ${ms} ms another transaction has held its lock, or one on the log's tables, and ${outcome}: find it with pg_blocking_pids() and end it`,
  );
}

function tooMuch(thread: NamedThread, bytes: number, most: number): Error {
  return new Error(
    `audit log: ${nameOf(thread)} is locked by another transaction, and ${bytes} bytes of at most ${most} wait for such threads: the row was not stored`,
  );
}

function nameOf({ tenant_id, thread_id }: NamedThread): string {
  return `tenant ${tenant_id}, thread ${thread_id}`;
}
