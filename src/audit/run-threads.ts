import { canonicalRunId, RecentPairs, withoutAdded } from "../events/door.ts";

/** Fields that determine a run's thread. */
export interface ThreadHints {
  readonly thread_id?: string | null | undefined;
  readonly root_run_id?: string | null | undefined;
  /** The thread of a run, if no other field determines it. */
  readonly default_thread_id?: string | undefined;
}

interface RunThread {
  thread: string;
  /** Whether the thread was named. Otherwise it was derived. */
  named: boolean;
  /** The current or last segment of the run, from 1. */
  segment: number;
  paused: boolean;
}

/**
 * The thread that each run writes to: the one named by any of its events, otherwise the thread of its parent run, the
 * root run's ID, or its own ID. UUIDs match in any case.
 *
 * It remembers at least `limit` runs and at most twice as many. The least recently used are forgotten.
 */
export class RunThreads {
  readonly #runs: RecentPairs<RunThread>;
  /** The last run, because consecutive events mostly belong to one. */
  #tenant = "";
  #run = "";
  #last: RunThread | undefined;

  constructor(limit: number) {
    this.#runs = new RecentPairs(limit);
  }

  /**
   * Updates the run's thread from an event, and returns it.
   *
   * @param parent the parent of a run that starts.
   */
  learn(tenant: string, run: string, given: ThreadHints, parent?: string | null): string {
    const hints = withoutAdded(given);
    if (!run) return hints.thread_id ?? "";
    const known = this.#find(tenant, run);
    const next = this.#next(tenant, run, hints, parent, known);
    if (next !== known) {
      this.#runs.set(tenant, canonicalRunId(run), next);
      this.#last = next;
    }
    return next.thread;
  }

  /** The run starts, or continues after a pause. @returns its segment. */
  begins(tenant: string, run: string): number {
    const known = this.#find(tenant, run);
    if (known === undefined) return 1;
    if (known.paused) {
      known.paused = false;
      known.segment++;
    }
    return known.segment;
  }

  /** @param pauses whether the run is pausing. */
  segmentOf(tenant: string, run: string, pauses = false): number {
    const known = this.#find(tenant, run);
    if (known === undefined) return 1;
    if (pauses) known.paused = true;
    return known.segment;
  }

  /** The segment of an audit call. A resumption may be recorded before the run starts again. */
  segmentOfCall(tenant: string, run: string, kind: string): number {
    const known = this.#find(tenant, run);
    if (known === undefined) return 1;
    return kind === "resumed" && known.paused ? known.segment + 1 : known.segment;
  }

  /** A run in use is not forgotten: finding it counts as use. */
  #find(tenant: string, run: string): RunThread | undefined {
    if (run !== this.#run || tenant !== this.#tenant) {
      this.#tenant = tenant;
      this.#run = run;
      this.#last = this.#runs.get(tenant, canonicalRunId(run));
    }
    return this.#last;
  }

  #next(
    tenant: string,
    run: string,
    { default_thread_id, root_run_id, thread_id }: ThreadHints,
    parentRun: string | null | undefined,
    known: RunThread | undefined,
  ): RunThread {
    if (thread_id) return inThread(known, thread_id, true);
    if (known?.named) return known;
    const parent = parentRun ? this.#runs.get(tenant, canonicalRunId(parentRun)) : undefined;
    if (parent !== undefined) return inThread(known, parent.thread, parent.named);
    if (known !== undefined) return known;
    const thread = default_thread_id || canonicalRunId(root_run_id || run);
    return inThread(undefined, thread, false);
  }
}

function inThread(known: RunThread | undefined, thread: string, named: boolean): RunThread {
  if (known === undefined) return { thread, named, segment: 1, paused: false };
  known.thread = thread;
  known.named = named;
  return known;
}
