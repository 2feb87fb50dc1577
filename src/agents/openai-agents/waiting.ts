import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

// Which agents wait for somebody's approval: no span says so.

/** The calls that a run waits for: those that its model asked for in vain, and those of runs below. */
export function waitingCalls({ agents }: TraceRecord, run: AgentRun): readonly AskedCall[] {
  const own = run.asked.filter(({ begun }) => !begun);
  for (const below of agents.values()) {
    if (below.parent === run && below.state === "interrupted" && !below.left) {
      for (const call of below.waiting) own.push(call);
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

/** How many runs stand above it. */
export function depth(run: AgentRun): number {
  let levels = 0;
  for (let above = run.parent; above !== undefined; above = above.parent) levels += 1;
  return levels;
}

/** The run of an agent that was paused, and whose next span this is; with the id of the last one. */
export function pausedRun(trace: TraceRecord, agent: string, parent: Scope) {
  if (trace.root === undefined) return undefined;
  let left: readonly [string, AgentRun] | undefined;
  let isOnlyOne = true;
  for (const known of trace.agents) {
    const run = known[1];
    if (run.state !== "interrupted" || run.span !== undefined || !run.waitsItself) continue;
    if (run.agent !== agent) continue;
    if (run.left) {
      isOnlyOne = left === undefined;
      left ??= known;
    } else if (parent.run === undefined ? run.top : run.parent === parent.run) {
      return known;
    }
  }
  // No run waits for such a one: it goes on by itself, if it is clear which does.
  return parent.run === undefined && isOnlyOne ? left : undefined;
}

/** The agent goes on that waited for these calls in another process. */
export function takeAwaited(trace: TraceRecord, run: AgentRun): void {
  const own = trace.awaited.filter(({ agent }) => agent === run.agent);
  if (own.length === 0) return;
  trace.awaited = trace.awaited.filter((call) => !own.includes(call));
  run.asked = own;
  run.resumed = true;
}
