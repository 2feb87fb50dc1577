import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

// Which agents wait for somebody's approval: no span says so.

/** The calls that a run waits for: those that its model asked for in vain, and those of runs below. */
export function waitingCalls({ agents }: TraceRecord, run: AgentRun): readonly AskedCall[] {
  const own = run.asked.filter(({ begun }) => !begun);
  for (const below of agents.values()) {
    if (below.parent === run && below.state === "interrupted" && !below.left) {
      own.push(...below.waiting);
    }
  }
  return own;
}

/** The agents of a run's tools that wait, and it with them. */
export function waitingFor({ agents }: TraceRecord, run: AgentRun): readonly AgentRun[] {
  return [...agents.values()].filter(
    ({ parent, parentToolUseId, state }) =>
      parent === run && parentToolUseId !== undefined && state === "interrupted",
  );
}

/** Runs in which a call is going on, and those above them: they are not paused. */
export function busyRuns({ open }: TraceRecord): ReadonlySet<AgentRun> {
  const busy = new Set<AgentRun>();
  for (const { kind, scope } of open.values()) {
    if (kind !== "tool" && kind !== "model") continue;
    for (let run = scope.run; run !== undefined && run.state === "open"; run = run.parent) {
      busy.add(run);
    }
  }
  return busy;
}

/**
 * Whether an agent in which no call is going on may be paused. One that has just begun is not, nor one
 * whose model got all it asked for.
 */
export function mayWait(run: AgentRun): boolean {
  if (run.state !== "open" || run.span === undefined) return false;
  return run.toolWaits || run.resumed || run.unread || run.asked.some(({ begun }) => !begun);
}

/** Whether an agent that works for a tool call waits for somebody: then the call does too. */
export function waitsBelow(trace: TraceRecord, { run, toolUseId }: Scope): boolean {
  if (trace.agents.size < 2) return false;
  const busy = busyRuns(trace);
  for (const below of trace.agents.values()) {
    if (below.parent !== run || below.parentToolUseId !== toolUseId) continue;
    if (below.state === "interrupted" ? !below.left : mayWait(below) && !busy.has(below))
      return true;
  }
  return false;
}

/** Neither the run nor one above it is over or paused. */
export function isOpenUpwards(run: AgentRun): boolean {
  for (let above: AgentRun | undefined = run; above !== undefined; above = above.parent) {
    if (above.state !== "open") return false;
  }
  return true;
}
