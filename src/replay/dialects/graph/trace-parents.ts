import { RecentPairs, RunIds } from "../../../events/door.ts";
import type { LogRun, OpenCall } from "./log-run.ts";

/** Maximum number of remembered runs, and of dispatches, of one trace. */
const A_TRACE = 1_000;

/** A reported dispatch of a sub-agent, until its run is found. */
export interface Dispatch {
  readonly run: LogRun;
  readonly agent: string;
  readonly subThread: string;
  readonly call: OpenCall | undefined;
}

/** The parent of a run whose rows name only its trace. */
export interface RunParent {
  readonly parentRunId: string;
  readonly dispatch?: Dispatch | undefined;
}

interface Trace {
  /** The root run of the trace. */
  root: LogRun | undefined;
  readonly runs: LogRun[];
  dispatches: Dispatch[];
}

/**
 * Finds the parents of runs in logs whose rows name run and trace but not the parent run. The parent is inferred from
 * dispatches of sub-agents and from open calls.
 */
export class TraceParents {
  readonly #traces: RecentPairs<Trace>;

  /** @param traces minimum number of remembered traces. */
  constructor(traces: number) {
    this.#traces = new RecentPairs(traces);
  }

  /** @param isRoot whether {@link TraceParents.parentOf} found no parent. */
  opened(traceId: string, run: LogRun, isRoot: boolean): void {
    const trace = this.#traceOf(run.tenantId, traceId);
    if (isRoot) trace.root ??= run;
    trace.runs.push(run);
    if (trace.runs.length > A_TRACE) trace.runs.shift();
  }

  dispatched(traceId: string, dispatch: Dispatch): void {
    const trace = this.#traceOf(dispatch.run.tenantId, traceId);
    trace.dispatches.push(dispatch);
    if (trace.dispatches.length > A_TRACE) trace.dispatches.shift();
  }

  /**
   * The parent of a run that is about to open.
   *
   * @param thread the thread of its row. A dispatch may have named it.
   * @returns `undefined` for the root run of a trace.
   */
  parentOf(
    tenantId: string,
    runId: string,
    traceId: string | undefined,
    thread: string,
  ): RunParent | undefined {
    if (traceId === undefined) return undefined;
    const trace = this.#traceOf(tenantId, traceId);
    if (isRootOf(trace, tenantId, runId, traceId)) return undefined;
    const dispatch = takeDispatch(trace, runId, thread);
    if (dispatch !== undefined) return { parentRunId: dispatch.run.runId, dispatch };
    const dispatchers = new Set(trace.dispatches.map((each) => each.run));
    const callers = trace.runs.filter((run) => run.calls.length > 0);
    const parent = onlyOne([...dispatchers]) ?? onlyOne(callers);
    return { parentRunId: parent?.runId ?? trace.root?.runId ?? rootIn(traceId) };
  }

  #traceOf(tenantId: string, traceId: string): Trace {
    let trace = this.#traces.get(tenantId, traceId);
    if (trace === undefined) {
      trace = { root: undefined, runs: [], dispatches: [] };
      this.#traces.set(tenantId, traceId, trace);
    }
    return trace;
  }
}

/** The dispatch that named this run or its thread, else the only open one. */
function takeDispatch(trace: Trace, runId: string, thread: string): Dispatch | undefined {
  const { dispatches } = trace;
  const found =
    dispatches.find(({ subThread }) => subThread === runId || subThread === thread) ??
    onlyOne(dispatches);
  if (found !== undefined) trace.dispatches = dispatches.filter((each) => each !== found);
  return found;
}

/** The run ID of a root that was not seen: its trace ID with dashes, if it was a UUID. */
function rootIn(traceId: string): string {
  const parts = [
    traceId.slice(0, 8),
    traceId.slice(8, 12),
    traceId.slice(12, 16),
    traceId.slice(16, 20),
  ];
  return [...parts, traceId.slice(20)].join("-");
}

/** Whether the run is the root of the trace. Only UUIDs in different case share a trace ID. */
function isRootOf({ root }: Trace, tenantId: string, runId: string, traceId: string): boolean {
  if (RunIds.fromUuid(runId)?.traceId === traceId) return true;
  if (root !== undefined) return root.runId === runId;
  return RunIds.hashed(tenantId, runId).traceId === traceId;
}

function onlyOne<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}
