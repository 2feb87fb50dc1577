import { tenantKey } from "../../events/door.ts";
import type { Series } from "./series-table.ts";

/** Interruptions remembered; beyond it the oldest is forgotten. */
const MOST_PENDING = 10_000;

/** After this long an approval is given up, or the run went on in another process, in s. */
const LONGEST_WAIT_S = 7 * 24 * 60 * 60;

/** A run that waits for an approval. */
interface Pending {
  readonly key: string;
  readonly threadKey: string | undefined;
  /** When it was interrupted, in s since 1970. */
  readonly since: number;
  /** Where it counts. */
  readonly count: Series;
  /** Where its age counts. */
  readonly age: Series;
}

/** Names of what waits: tenants may have the same ids. */
export interface Waiting {
  readonly tenantId: string;
  readonly runId: string;
  readonly threadId: string | undefined;
}

/**
 * The interrupted runs that wait for an approval, until they go on: under their own id, under a new
 * one that names them, or as the next root run of their thread that names none that waits.
 *
 * Counted when asked, not kept as a sum: nothing can drift. Bounded in number and in time, since a
 * run may go on in another process, or never.
 */
export class PendingApprovals {
  /** Waits that were given up: too many, or too long. */
  forgotten = 0;
  /** The oldest first, as they were interrupted. */
  readonly #pending = new Map<string, Pending>();
  /** The last one of each thread. */
  readonly #byThread = new Map<string, Pending>();

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  add(waiting: Waiting, since: number, count: Series, age: Series): void {
    const { tenantId, threadId } = waiting;
    const key = tenantKey(tenantId, waiting.runId);
    this.#remove(this.#pending.get(key));
    const threadKey = threadId === undefined ? undefined : tenantKey(tenantId, threadId);
    const pending = { key, threadKey, since, count, age };
    this.#pending.set(key, pending);
    if (threadKey !== undefined) this.#byThread.set(threadKey, pending);
    if (this.#pending.size > MOST_PENDING) this.#forget(this.#pending.values().next().value);
  }

  /**
   * The run goes on, or is followed by another one.
   *
   * @returns whether it waited.
   */
  resolveRun(tenantId: string, runId: string): boolean {
    const waited = this.#pending.get(tenantKey(tenantId, runId));
    this.#remove(waited);
    return waited !== undefined;
  }

  /** A root run starts on the thread: its last interrupted run waits no more. */
  resolveThread(tenantId: string, threadId: string): void {
    this.#remove(this.#byThread.get(tenantKey(tenantId, threadId)));
  }

  /**
   * Puts into the series how many wait, and how long the oldest has been waiting.
   *
   * @param now in s since 1970.
   */
  tally(now: number, counts: Iterable<Series>, ages: Iterable<Series>): void {
    for (const series of counts) series.value = 0;
    for (const series of ages) series.value = 0;
    for (const pending of this.#pending.values()) {
      const waited = Math.max(now - pending.since, 0);
      if (waited > LONGEST_WAIT_S) {
        this.#forget(pending);
        continue;
      }
      pending.count.value++;
      if (waited > pending.age.value) pending.age.value = waited;
    }
  }

  #forget(pending: Pending | undefined): void {
    this.#remove(pending);
    this.forgotten++;
  }

  #remove(pending: Pending | undefined): void {
    if (pending === undefined) return;
    this.#pending.delete(pending.key);
    const { threadKey } = pending;
    if (threadKey !== undefined && this.#byThread.get(threadKey) === pending) {
      this.#byThread.delete(threadKey);
    }
  }
}
