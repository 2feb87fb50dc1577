import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

/** Handoffs of a trace whose next agent has not begun: one whose agent never does stays until then. */
const MAX_HANDOFFS = 64;

/** The run's agent hands control to the agent of that name, which begins later. */
export function handOff(trace: TraceRecord, run: AgentRun, to: string): void {
  run.handedOff = true;
  trace.handoffs.push({ from: run, to });
  if (trace.handoffs.length > MAX_HANDOFFS) trace.handoffs.shift();
}

/**
 * Who handed control to an agent that begins: an agent of the same tool call, or likewise at the top.
 *
 * @param place where the agent begins.
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
