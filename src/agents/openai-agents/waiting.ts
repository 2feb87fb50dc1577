import { fieldIn, textOf } from "../core/door.ts";
import type { AwaitedCall } from "./approvals.ts";
import type { SdkSpan } from "./sdk.ts";
import { type AskedCall, isUnmade } from "./span-answer.ts";
import type { AgentRun, Scope, TraceRecord } from "./trace-record.ts";

// Finds agents that wait for an approval. No span says so. What says it, in this order:
// - the SDK's state of the run, from `noteResult` or `noteState`;
// - without a task span above the agent (before 0.14, or switched off): the SDK ends the agent's span unless it waits;
// - with a task span: nothing. Calls of the last answer that were not made then look like a pause.

/**
 * Whether an agent whose span has ended waits. `undefined`: nothing says it.
 *
 * An error on the span or a handoff is not a pause, also if the application handled the error.
 */
export function waitsAtEnd(
  trace: TraceRecord,
  run: AgentRun,
  { error, spanId }: SdkSpan,
): boolean | undefined {
  if (error !== null || run.handedOff) return false;
  const state = trace.state?.deref();
  if (agentSpanIn(state) === spanId) return isPausedState(state);
  if (run.taskId === undefined) return false;
  return isUnread(run) || looksPaused(trace, run) ? undefined : false;
}

/** Whether no span showed which calls its model asked for. */
function isUnread({ hasAnswers, unread }: AgentRun): boolean {
  return unread || !hasAnswers;
}

/** Whether its model asked for calls that were not made. */
export function looksPaused(trace: TraceRecord, run: AgentRun): boolean {
  return run.toolWaits || waitingCalls(trace, run).length > 0;
}

/** The ID of the span of the agent that a state of the SDK is about. */
export function agentSpanIn(state: unknown): string | undefined {
  return textOf(fieldIn(fieldIn(state, "_currentAgentSpan"), "spanId"));
}

/** Whether a state of the SDK is that of a run that waits. */
export function isPausedState(state: unknown): boolean {
  return fieldIn(fieldIn(state, "_currentStep"), "type") === "next_step_interruption";
}

/** The SDK's span around an agent's run. From 0.14 on, unless switched off. */
export function taskAbove({ open }: TraceRecord, { parentId }: SdkSpan): string | undefined {
  const above = parentId === null ? undefined : open.get(parentId)?.span;
  return above?.spanData.type === "task" ? above.spanId : undefined;
}

/** The calls that a run waits for: calls of its model that were not made, and those of runs below. */
export function waitingCalls({ agents }: TraceRecord, run: AgentRun): readonly AskedCall[] {
  // Without a task, the open span says that the agent waits, even if its calls have no JSON.
  const own = run.asked.filter((call) => (run.taskId ? isUnmade(call) : !call.begun));
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

/** Whether an agent with an open span, but without an open call, waits. With a task above it, it works. */
export function mayWait(run: AgentRun): boolean {
  if (run.state !== "open" || run.span === undefined || run.taskId !== undefined) return false;
  return run.toolWaits || run.resumed || run.unread || run.asked.some(({ begun }) => !begun);
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

/** Whether it is this run, or below it. */
export function isWithin(run: AgentRun, above: AgentRun): boolean {
  for (let at: AgentRun | undefined = run; at !== undefined; at = at.parent) {
    if (at === above) return true;
  }
  return false;
}

/** Whether the end of a run is held back. */
export function holdsBack({ agents }: TraceRecord): boolean {
  for (const { heldAt } of agents.values()) if (heldAt !== undefined) return true;
  return false;
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

/** The SDK's state has the names of the tools, and the calls that an answer did not show. */
export function takeNames({ agents }: TraceRecord, awaited: readonly AwaitedCall[]): void {
  for (const run of agents.values()) {
    if (run.state === "ended") continue;
    const own = awaited.filter(({ agent }) => agent === run.agent);
    if (isUnread(run)) run.asked = own;
    for (const { id, tool } of own) {
      for (const call of run.asked) {
        if (call.id !== id || call.begun) continue;
        call.tool = tool;
        call.isVoid = false;
      }
    }
  }
}
