import { tenantKey } from "../events/agent-event.ts";
import { RecentMap } from "../lifecycle/recent-map.ts";
import { canonicalRunId } from "../lifecycle/run-ids.ts";

/** What tells a run's thread. */
export interface ThreadHints {
  readonly thread_id?: string | null | undefined;
  readonly parent_run_id?: string | null | undefined;
  readonly root_run_id?: string | null | undefined;
}

interface RunThread {
  readonly thread: string;
  /** Somebody named the thread; otherwise it was concluded. */
  readonly named: boolean;
}

/**
 * Which thread each run writes to, in whatever letters its UUID comes: the one named with any of its
 * events, else that of its parent run, else the root run's id, else its own id.
 *
 * At least `limit` runs are remembered, and at most twice as many; the ones used longest ago are
 * forgotten.
 */
export class RunThreads {
  readonly #runs: RecentMap<RunThread>;
  /** The run asked for last, whose name is ready: events of one run mostly come one after the other. */
  #tenant = "";
  #run = "";
  #name = "";

  constructor(limit: number) {
    this.#runs = new RecentMap(limit);
  }

  /** Learns from an event of a run and says where the run writes now. */
  learn(tenant: string, run: string, hints: ThreadHints): string {
    if (!run) return hints.thread_id ?? "";
    const name = this.#nameOf(tenant, run);
    const next = this.#next(tenant, run, hints, this.#runs.get(name));
    // Set also when nothing changed: a run in use is not forgotten.
    this.#runs.set(name, next);
    return next.thread;
  }

  #nameOf(tenant: string, run: string): string {
    if (run !== this.#run || tenant !== this.#tenant) {
      this.#tenant = tenant;
      this.#run = run;
      this.#name = nameOf(tenant, run);
    }
    return this.#name;
  }

  #next(
    tenant: string,
    run: string,
    { parent_run_id, root_run_id, thread_id }: ThreadHints,
    known: RunThread | undefined,
  ): RunThread {
    if (thread_id) return { thread: thread_id, named: true };
    if (known?.named) return known;
    const parent = parent_run_id ? this.#runs.get(nameOf(tenant, parent_run_id)) : undefined;
    if (parent !== undefined) return parent;
    return known ?? { thread: canonicalRunId(root_run_id || run), named: false };
  }
}

function nameOf(tenant: string, run: string): string {
  return tenantKey(tenant, canonicalRunId(run));
}
