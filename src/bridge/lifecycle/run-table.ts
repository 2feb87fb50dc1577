import { RunIds } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import { ClosedCalls, ClosedRuns, isOver, type RunMemory } from "./closed-runs.ts";
import type { Run } from "./run.ts";

/** Calls remembered a closed run, on average. */
const CALLS_A_CLOSED_RUN = 8;
const MOST_CLOSED_CALLS = 2 ** 20;

/**
 * Every run that is known, open or remembered, by tenant and run id; and which tenant a trace id
 * belongs to.
 *
 * The tenant that comes first with a run id has the ids of its UUID. The same run id of another
 * tenant gets hashed ids, so that no trace ever holds spans of two tenants.
 */
export class RunTable<H> {
  readonly #open = new OpenRuns<H>();
  /** Further open runs of an id, by run id and tenant. */
  readonly #openBeside = new Map<string, Map<string, Run<H>>>();
  readonly #closed: ClosedRuns<H>;
  /** Owners of the traces whose ids say nothing of a run that is known by its UUID. */
  readonly #traces = new TraceOwners();
  readonly #budget: CallIdBudget;
  /** Whether any run whose id is a UUID has hashed ids. */
  #conflicted = false;
  /** The ids worked out last: a run that starts is first looked up, then identified. */
  #lastRunId = "";
  #lastIds: RunIds | undefined = undefined;
  /** A run id that was just looked up in vain: no run is known by its UUID, of any tenant. */
  #freeRunId: string | undefined = undefined;

  constructor(mostClosed: number, budget: CallIdBudget, memory: RunMemory<H>) {
    this.#budget = budget;
    const calls = new ClosedCalls(Math.min(mostClosed * CALLS_A_CLOSED_RUN, MOST_CLOSED_CALLS));
    this.#closed = new ClosedRuns(mostClosed, calls, memory, {
      run: (run) => this.#releaseCalls(run),
      inOtherTrace: (traceId) => this.#traces.release(traceId),
    });
  }

  /** A run id in the form it is kept in: the letters of a UUID in lower case. */
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
      // A UUID is known by its bytes, in whatever letters it comes.
      const owner = this.#closed.tenantOf(ids);
      if (owner === tenantId) return this.#closed.get(ids, runId.toLowerCase());
      const free = owner === undefined && run === undefined && this.#openBeside.size === 0;
      if (free) this.#freeRunId = runId;
      if (!this.#conflicted) return undefined;
    }
    const hashed = this.#hashedIds(tenantId, runId);
    return this.#closed.tenantOf(hashed) === tenantId ? this.#closed.get(hashed, runId) : undefined;
  }

  /** The tenant's run of this id, if it is the first open one of the id: a look in one map. */
  findFirstOpen(tenantId: string, runId: string): Run<H> | undefined {
    const run = this.#open.get(runId);
    return run?.tenantId === tenantId ? run : undefined;
  }

  /** The run of this id that is open, or closed and known by its UUID, of whichever tenant it is. */
  ownerOf(runId: string): Run<H> | undefined {
    const run = this.#open.get(runId) ?? this.#beside(runId).next().value;
    if (run !== undefined) return run;
    const ids = this.#uuidIds(runId);
    return ids === undefined ? undefined : this.#closed.get(ids, runId);
  }

  /** A new run opens; its trace is its tenant's from now on. */
  add(run: Run<H>): void {
    if (isInOtherTrace(run)) this.#traces.hold(run.tenantId, run.traceId);
    this.#enter(run);
  }

  /** A closed run opens again. */
  recall(run: Run<H>): void {
    this.#closed.take(run);
    this.#enter(run);
  }

  /**
   * A run has closed: it is kept until enough others have.
   *
   * @returns whether another run was forgotten for it.
   */
  remember(run: Run<H>): boolean {
    this.#leave(run);
    const forgot = this.#closed.add(run);
    if (isOver(run)) this.#releaseCalls(run);
    return forgot;
  }

  /**
   * The ids of a run of this tenant.
   *
   * @returns hashed ones where the run id is no UUID, or where its trace is another tenant's
   *   (`conflict`).
   */
  identify(tenantId: string, runId: string): { readonly ids: RunIds; readonly conflict: boolean } {
    const own = this.#uuidIds(runId);
    if (own === undefined) return { ids: this.#hashedIds(tenantId, runId), conflict: false };
    if (!this.#isForeign(tenantId, runId, own)) return { ids: own, conflict: false };
    this.#conflicted = true;
    return { ids: this.#hashedIds(tenantId, runId), conflict: true };
  }

  /** Whether a trace that a run of the tenant is to join is another tenant's. */
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

  /** Ids over tenant and run; over more, where another tenant has come into their trace. */
  #hashedIds(tenantId: string, runId: string): RunIds {
    let ids = RunIds.hashed(tenantId, runId);
    for (let attempt = 1; this.isForeignTrace(tenantId, ids.traceId); attempt++) {
      ids = RunIds.hashed(tenantId, `${runId}\0${attempt}`);
    }
    return ids;
  }

  #enter(run: Run<H>): void {
    // A closed run's ids are known by themselves, an open one's by its run id, if that is a UUID.
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

/** Whether the ids of a run's UUID are taken by a run of another tenant. */
function hasUuidOfAnother<H>(run: Run<H>, tenantId: string): boolean {
  return run.tenantId !== tenantId && !run.ids.hashed;
}

/** Whether a run is in a trace other than the one its ids stand for. */
function isInOtherTrace<H>(run: Run<H>): boolean {
  return run.traceId !== run.ids.traceId;
}

function uuidOf(traceId: string): string {
  return `${traceId.slice(0, 8)}-${traceId.slice(8, 12)}-${traceId.slice(12, 16)}-${traceId.slice(16, 20)}-${traceId.slice(20)}`;
}

/**
 * Entries that stand in the map for good. A map that is nearly empty is rebuilt at every third
 * deletion, which takes a good part of all time spent here.
 */
const FILLERS = 64;

/**
 * Open runs by run id: of several tenants' runs of one id the one that opened first.
 *
 * One of them stands beside the map. Where runs come one at a time, as they do in a process with one
 * agent, none is ever put into the map: that and taking it out again costs as much as all other
 * bookkeeping of a run.
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

  /** Its id is not there yet. */
  add(run: Run<H>): void {
    if (this.#beside === undefined) this.#beside = run;
    else this.#others.set(run.runId, run);
  }

  /** @returns whether it was there. */
  delete(run: Run<H>): boolean {
    if (this.#beside === run) {
      this.#beside = undefined;
      return true;
    }
    return this.#others.get(run.runId) === run && this.#others.delete(run.runId);
  }
}

/**
 * Which tenant a trace belongs to: the one whose runs, open or remembered, are in it.
 *
 * It counts the runs that hold a trace, so its size is bounded by theirs.
 */
export class TraceOwners {
  readonly #owners = new Map<string, { readonly tenantId: string; runs: number }>();

  /** Whether the trace holds runs of another tenant. */
  isForeign(tenantId: string, traceId: string): boolean {
    if (this.#owners.size === 0) return false;
    const owner = this.#owners.get(traceId);
    return owner !== undefined && owner.tenantId !== tenantId;
  }

  /** One more run of the tenant is in the trace. */
  hold(tenantId: string, traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) this.#owners.set(traceId, { tenantId, runs: 1 });
    else owner.runs++;
  }

  /** A run of the trace was forgotten. */
  release(traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) return;
    if (owner.runs === 1) this.#owners.delete(traceId);
    else owner.runs--;
  }
}
