import { tenantKey } from "../../events/door.ts";
import type { Series } from "./series-table.ts";

/** Most waiting runs. Above it, the oldest is dropped. */
const MOST_PENDING = 10_000;

/** Age limit of a wait, in s. After it, the run was given up, or continued in another process. */
const LONGEST_WAIT_S = 7 * 24 * 60 * 60;

/** A run that waits for an approval. */
interface Pending {
  readonly key: string;
  readonly threadKey: string | undefined;
  /** When it was interrupted, in s since 1970. */
  readonly since: number;
  /** The series of the number of waiting runs. */
  readonly count: Series;
  /** The series of the longest wait. */
  readonly age: Series;
}

/** Identifies a waiting run. Tenants can have the same IDs. */
export interface Waiting {
  readonly tenantId: string;
  readonly runId: string;
  readonly threadId: string | undefined;
}

/**
 * Interrupted runs that wait for an approval until they continue: under their own ID, under a new one that
 * names them, or as the next root run of their thread that names no waiting run.
 *
 * Counts are computed at collection, so they cannot drift. Number and age are bounded, since a run can
 * continue in another process, or never.
 */
export class PendingApprovals {
  /** Number of dropped waits: too many, or too old. */
  forgotten = 0;
  /** In the order of interruption. */
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
   * Removes a run that continues, or that another run resumes.
   *
   * @returns whether it waited.
   */
  resolveRun(tenantId: string, runId: string): boolean {
    const waited = this.#pending.get(tenantKey(tenantId, runId));
    this.#remove(waited);
    return waited !== undefined;
  }

  /** Removes the last interrupted run of a thread on which a root run starts. */
  resolveThread(tenantId: string, threadId: string): void {
    this.#remove(this.#byThread.get(tenantKey(tenantId, threadId)));
  }

  /**
   * Sets the series to the number of waiting runs, and to the longest wait.
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
