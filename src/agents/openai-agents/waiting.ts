import { type AskedCall, isUnmade } from "./span-answer.ts";
import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

// Finds agents that wait for an approval. No span shows this.

/** The calls that a run waits for: calls of its model that were not made, and those of runs below. */
export function waitingCalls({ agents }: TraceRecord, run: AgentRun): readonly AskedCall[] {
  const own = run.asked.filter(isUnmade);
  for (const below of agents.values()) {
    if (below.parent === run && below.state === "interrupted" && !below.detached) {
      for (const call of below.waiting) own.push(call);
    }
  }
  return own;
}

/** Paused agents of a run's tools. */
export function waitingFor({ agents }: TraceRecord, run: AgentRun): readonly AgentRun[] {
  return [...agents.values()].filter(
    ({ parent, parentToolUseId, state }) =>
      parent === run && parentToolUseId !== undefined && state === "interrupted",
  );
}

/** Runs with an open call, and the runs above them. They are not paused. */
export function busyRuns({ open }: TraceRecord): ReadonlySet<AgentRun> {
  const busy = new Set<AgentRun>();
  for (const { kind, scope } of open.values()) {
    if (kind !== "tool" && kind !== "model") continue;
    let run: AgentRun | undefined = scope.run;
    for (; run !== undefined && run.state === "open"; run = run.parent) {
      busy.add(run);
    }
  }
  return busy;
}

/**
 * Whether an agent without an open call may be paused. It is not if it has just started, or all calls of its model
 * were made.
 */
export function mayWait(run: AgentRun): boolean {
  if (run.state !== "open" || run.span === undefined) return false;
  return run.toolWaits || run.resumed || run.unread || run.asked.some(isUnmade);
}

/** Whether an agent below a tool call waits for an approval. The call waits then, too. */
export function waitsBelow(trace: TraceRecord, { run, toolUseId }: Scope): boolean {
  if (trace.agents.size < 2) return false;
  const busy = busyRuns(trace);
  for (const below of trace.agents.values()) {
    if (below.parent !== run || below.parentToolUseId !== toolUseId) continue;
    if (below.state === "interrupted" ? !below.detached : mayWait(below) && !busy.has(below))
      return true;
  }
  return false;
}

/** Whether the run and all runs above it are open. */
export function isOpenUpwards(run: AgentRun): boolean {
  for (let above: AgentRun | undefined = run; above !== undefined; above = above.parent) {
    if (above.state !== "open") return false;
  }
  return true;
}

/** Number of runs above it. */
export function depth(run: AgentRun): number {
  let levels = 0;
  for (let above = run.parent; above !== undefined; above = above.parent) levels += 1;
  return levels;
}

/** The paused run that a new agent span resumes, with the span ID of its last segment. */
export function pausedRun(trace: TraceRecord, agent: string, parent: Scope) {
  if (trace.root === undefined) return undefined;
  let detached: readonly [string, AgentRun] | undefined;
  let isOnlyOne = true;
  for (const known of trace.agents) {
    const run = known[1];
    if (run.state !== "interrupted" || run.span !== undefined || !run.waitsItself) continue;
    if (run.agent !== agent) continue;
    if (run.detached) {
      isOnlyOne = detached === undefined;
      detached ??= known;
    } else if (parent.run === undefined ? run.top : run.parent === parent.run) {
      return known;
    }
  }
  // No run waits for such an agent. It was resumed separately, if only one matches.
  return parent.run === undefined && isOnlyOne ? detached : undefined;
}

/** Sets the calls that the agent waited for in another process. */
export function takeAwaited(trace: TraceRecord, run: AgentRun): void {
  const own = trace.awaited.filter(({ agent }) => agent === run.agent);
  if (own.length === 0) return;
  trace.awaited = trace.awaited.filter((call) => !own.includes(call));
  run.asked = own;
  run.resumed = true;
}
