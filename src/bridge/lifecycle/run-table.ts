import { RunIds } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import { ClosedCalls, ClosedRuns, isOver, type RunMemory } from "./closed-runs.ts";
import type { Run } from "./run.ts";

/** Calls in memory for each closed run, on average. */
const CALLS_A_CLOSED_RUN = 8;
const MOST_CLOSED_CALLS = 2 ** 20;

/**
 * Every run in memory, open or closed, by tenant and run ID, and the tenant of each trace ID.
 *
 * The first tenant with a run ID gets the IDs of its UUID. The same run ID of another tenant gets hashed
 * IDs, so that no trace holds spans of two tenants.
 */
export class RunTable<H> {
  readonly #open = new OpenRuns<H>();
  /** Further open runs with the same run ID, by run ID and tenant. */
  readonly #openBeside = new Map<string, Map<string, Run<H>>>();
  readonly #closed: ClosedRuns<H>;
  /** Tenants of traces whose ID is not the UUID of a run in memory. */
  readonly #traces = new TraceOwners();
  readonly #budget: CallIdBudget;
  /** Whether any run with a UUID has hashed IDs. */
  #conflicted = false;
  /** The last derived IDs. A run that starts is looked up first, and then identified. */
  #lastRunId = "";
  #lastIds: RunIds | undefined = undefined;
  /** The last run ID without a result: no tenant has a run with this UUID. */
  #freeRunId: string | undefined = undefined;

  constructor(mostClosed: number, budget: CallIdBudget, memory: RunMemory<H>) {
    this.#budget = budget;
    const calls = new ClosedCalls(Math.min(mostClosed * CALLS_A_CLOSED_RUN, MOST_CLOSED_CALLS));
    this.#closed = new ClosedRuns(mostClosed, calls, memory, {
      run: (run) => this.#releaseCalls(run),
      inOtherTrace: (traceId) => this.#traces.release(traceId),
    });
  }

  /** The canonical form of a run ID: a UUID in lower case. */
  canonical(runId: string): string {
    return this.#uuidIds(runId)?.capitals === true ? runId.toLowerCase() : runId;
  }

  /** The tenant's run of this id. */
  find(tenantId: string, runId: string): Run<H> | undefined {
    const run = this.#open.get(runId);
    if (run !== undefined && run.tenantId === tenantId) return run;
    if (this.#openBeside.size > 0) {
      const beside = this.#openBeside.get(runId)?.get(tenantId);
      if (beside !== undefined) return beside;
    }
    const ids = this.#uuidIds(runId);
    if (ids !== undefined) {
      // A UUID is compared by its bytes, so its case does not matter.
      const owner = this.#closed.tenantOf(ids);
      if (owner === tenantId) return this.#closed.get(ids, runId.toLowerCase());
      const free = owner === undefined && run === undefined && this.#openBeside.size === 0;
      if (free) this.#freeRunId = runId;
      if (!this.#conflicted) return undefined;
    }
    const hashed = this.#hashedIds(tenantId, runId);
    return this.#closed.tenantOf(hashed) === tenantId ? this.#closed.get(hashed, runId) : undefined;
  }

  /** The tenant's run of this ID, if it is the first open one of the ID. Takes one map lookup. */
  findFirstOpen(tenantId: string, runId: string): Run<H> | undefined {
    const run = this.#open.get(runId);
    return run?.tenantId === tenantId ? run : undefined;
  }

  /** The run of this ID of any tenant: open, or closed and found by its UUID. */
  ownerOf(runId: string): Run<H> | undefined {
    const run = this.#open.get(runId) ?? this.#beside(runId).next().value;
    if (run !== undefined) return run;
    const ids = this.#uuidIds(runId);
    return ids === undefined ? undefined : this.#closed.get(ids, runId);
  }

  /** Adds a new open run. Its trace belongs to its tenant from now on. */
  add(run: Run<H>): void {
    if (isInOtherTrace(run)) this.#traces.hold(run.tenantId, run.traceId);
    this.#enter(run);
  }

  /** Makes a closed run an open one. */
  recall(run: Run<H>): void {
    this.#closed.take(run);
    this.#enter(run);
  }

  /**
   * Stores a run that has closed, until enough others have closed.
   *
   * @returns whether another run was dropped for it.
   */
  remember(run: Run<H>): boolean {
    this.#leave(run);
    const forgot = this.#closed.add(run);
    if (isOver(run)) this.#releaseCalls(run);
    return forgot;
  }

  /**
   * The IDs of a run of this tenant.
   *
   * @returns hashed IDs if the run ID is not a UUID, or if its trace belongs to another tenant
   *   (`conflict`).
   */
  identify(tenantId: string, runId: string): { readonly ids: RunIds; readonly conflict: boolean } {
    const own = this.#uuidIds(runId);
    if (own === undefined) return { ids: this.#hashedIds(tenantId, runId), conflict: false };
    if (!this.#isForeign(tenantId, runId, own)) return { ids: own, conflict: false };
    this.#conflicted = true;
    return { ids: this.#hashedIds(tenantId, runId), conflict: true };
  }

  /** Whether a trace belongs to another tenant. */
  isForeignTrace(tenantId: string, traceId: string): boolean {
    const runId = uuidOf(traceId);
    const ids = RunIds.fromUuid(runId);
    return ids === undefined
      ? this.#traces.isForeign(tenantId, traceId)
      : this.#isForeign(tenantId, runId, ids);
  }

  #releaseCalls(run: Run<H>): void {
    if (run.toolCalls > 0) run.history.release(this.#budget);
  }

  #isForeign(tenantId: string, runId: string, ids: RunIds): boolean {
    if (runId === this.#freeRunId) return this.#traces.isForeign(tenantId, ids.traceId);
    const first = this.#open.get(runId);
    if (first !== undefined && hasUuidOfAnother(first, tenantId)) return true;
    if (this.#openBeside.size > 0) {
      for (const run of this.#beside(runId)) if (hasUuidOfAnother(run, tenantId)) return true;
    }
    const closed = this.#closed.tenantOf(ids);
    if (closed !== undefined && closed !== tenantId) return true;
    return this.#traces.isForeign(tenantId, ids.traceId);
  }

  /** IDs hashed from tenant and run ID. A suffix is added if another tenant has their trace. */
  #hashedIds(tenantId: string, runId: string): RunIds {
    let ids = RunIds.hashed(tenantId, runId);
    for (let attempt = 1; this.isForeignTrace(tenantId, ids.traceId); attempt++) {
      ids = RunIds.hashed(tenantId, `${runId}\0${attempt}`);
    }
    return ids;
  }

  #enter(run: Run<H>): void {
    // A closed run is found by its IDs. An open one is found by its run ID, but only if that is a UUID.
    if (run.ids.hashed) this.#traces.hold(run.tenantId, run.ids.traceId);
    const free = run.runId === this.#freeRunId;
    this.#freeRunId = undefined;
    if (free || this.#open.get(run.runId) === undefined) {
      this.#open.add(run);
      return;
    }
    const beside = this.#openBeside.get(run.runId);
    if (beside === undefined) this.#openBeside.set(run.runId, new Map([[run.tenantId, run]]));
    else beside.set(run.tenantId, run);
  }

  #leave(run: Run<H>): void {
    if (run.ids.hashed) this.#traces.release(run.ids.traceId);
    if (this.#open.delete(run)) return;
    const beside = this.#openBeside.get(run.runId);
    beside?.delete(run.tenantId);
    if (beside?.size === 0) this.#openBeside.delete(run.runId);
  }

  #beside(runId: string): MapIterator<Run<H>> {
    return (this.#openBeside.get(runId) ?? NO_RUNS).values();
  }

  #uuidIds(runId: string): RunIds | undefined {
    if (runId !== this.#lastRunId) {
      this.#lastRunId = runId;
      this.#lastIds = RunIds.fromUuid(runId);
    }
    return this.#lastIds;
  }
}

const NO_RUNS: ReadonlyMap<string, never> = new Map<string, never>();

/** Whether a run of another tenant has the IDs of this run's UUID. */
function hasUuidOfAnother<H>(run: Run<H>, tenantId: string): boolean {
  return run.tenantId !== tenantId && !run.ids.hashed;
}

/** Whether a run is in a trace other than its own. */
function isInOtherTrace<H>(run: Run<H>): boolean {
  return run.traceId !== run.ids.traceId;
}

function uuidOf(traceId: string): string {
  return `${traceId.slice(0, 8)}-${traceId.slice(8, 12)}-${traceId.slice(12, 16)}-${traceId.slice(16, 20)}-${traceId.slice(20)}`;
}

/** Permanent entries of the map, since V8 rebuilds a nearly empty map at every third deletion. */
const FILLERS = 64;

/**
 * Open runs by run ID. If several tenants have the same run ID, the first one.
 *
 * One run is stored in a field. In a process with one agent, runs come one at a time and never enter the
 * map. Adding to the map and deleting costs as much as all other bookkeeping of a run.
 */
export class OpenRuns<H> {
  #beside: Run<H> | undefined = undefined;
  readonly #others = new Map<string, Run<H> | undefined>();

  constructor() {
    for (let n = 0; n < FILLERS; n++) this.#others.set(`\0filler ${n}`, undefined);
  }

  get(runId: string): Run<H> | undefined {
    if (this.#beside?.runId === runId) return this.#beside;
    return this.#others.size === FILLERS ? undefined : this.#others.get(runId);
  }

  /** The run ID must not be stored yet. */
  add(run: Run<H>): void {
    if (this.#beside === undefined) this.#beside = run;
    else this.#others.set(run.runId, run);
  }

  /** @returns whether it was stored. */
  delete(run: Run<H>): boolean {
    if (this.#beside === run) {
      this.#beside = undefined;
      return true;
    }
    return this.#others.get(run.runId) === run && this.#others.delete(run.runId);
  }
}

/**
 * The tenant of each trace: the one whose runs in memory are in it.
 *
 * It counts the runs of each trace, so its size is bounded by the number of runs.
 */
export class TraceOwners {
  readonly #owners = new Map<string, { readonly tenantId: string; runs: number }>();

  /** Whether the trace holds runs of another tenant. */
  isForeign(tenantId: string, traceId: string): boolean {
    if (this.#owners.size === 0) return false;
    const owner = this.#owners.get(traceId);
    return owner !== undefined && owner.tenantId !== tenantId;
  }

  /** Adds a run of the tenant to the trace. */
  hold(tenantId: string, traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) this.#owners.set(traceId, { tenantId, runs: 1 });
    else owner.runs++;
  }

  /** Removes a run from the trace. */
  release(traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) return;
    if (owner.runs === 1) this.#owners.delete(traceId);
    else owner.runs--;
  }
}
