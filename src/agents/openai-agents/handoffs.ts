import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

/** Maximum number of pending handoffs of a trace. A handoff is pending until its next agent starts. */
const MAX_HANDOFFS = 64;

/** Records a handoff to the agent with that name, which starts later. */
export function handOff(trace: TraceRecord, run: AgentRun, to: string): void {
  run.handedOff = true;
  trace.handoffs.push({ from: run, to });
  if (trace.handoffs.length > MAX_HANDOFFS) trace.handoffs.shift();
}

/**
 * Removes and returns the agent that handed off to a new agent. Both are in the same tool call, or both at the top.
 *
 * @param place the scope of the new agent.
 */
export function takeHandoff(
  { handoffs }: TraceRecord,
  agent: string,
  place: Scope,
): string | undefined {
  const index = handoffs.findIndex(({ from, to }) => to === agent && isBeside(from, place));
  return index < 0 ? undefined : handoffs.splice(index, 1)[0]?.from.agent;
}

function isBeside(run: AgentRun, { run: parent, toolUseId }: Scope): boolean {
  if (parent === undefined) return run.top;
  return run.parent === parent && run.parentToolUseId === toolUseId;
}
