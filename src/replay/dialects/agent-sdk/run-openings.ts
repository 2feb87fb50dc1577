import type { Instant } from "../../../events/door.ts";
import type { AgentSdkEvent, Count } from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { Reading } from "./reading.ts";
import { movedBack } from "./tool-calls.ts";

/**
 * Whether an event may be the first of a run. Of the ends of runs those may be that are the first thing
 * an agent says, where no run goes on that they could end: it was called, and refused before its first
 * turn, as by a budget that is spent.
 *
 * @param run of the thread; it may be over.
 */
export function mayOpen(
  event: AgentSdkEvent,
  sequence: Count | undefined,
  run: OpenRun | undefined,
): boolean {
  if (event.type === "user_input" || event.type === "start") return true;
  return isFirst(sequence) && REFUSALS.has(event.type) && !run?.open;
}

const REFUSALS: ReadonlySet<string> = new Set<AgentSdkEvent["type"]>([
  "budget_exceeded",
  "cancelled",
  "error",
]);

/**
 * Whether a prompt or a turn begins a run of its own, while one is open. A server's worker puts prompts
 * into a run that goes on, and tries a first turn again: both under the run's task. An agent that is
 * called anew begins with its first turn, or goes on with the turns of its thread (from 0.10 on): it
 * numbers its events from 0 again, as it does where it is called for each turn of a run.
 */
export function beginsAnew(
  event: AgentSdkEvent,
  sequence: Count | undefined,
  run: OpenRun,
): boolean {
  if (event.type === "user_input") {
    const injected = event.emitter_task_id != null && run.active;
    return !injected || run.mayEnd !== undefined;
  }
  if (event.type !== "start" || !run.active) return false;
  if (Number(event.turn) > 1) return isFirst(sequence) && run.mayEnd !== undefined;
  const task = taskOf(event);
  return Number(event.turn) === 1 && (task === undefined || task !== run.taskId);
}

/**
 * Whether an event is of another task than the one that began the turn which goes on, and so says nothing
 * of it: a task that a server cancelled may tell what it had come to when the next one has begun.
 *
 * @param before the run before it on the thread.
 */
export function isOfOtherTask(
  event: AgentSdkEvent,
  run: OpenRun | undefined,
  before: OpenRun | undefined,
): boolean {
  if (event.type === "user_input" || event.type === "start") return false;
  const task = taskOf(event);
  if (task === undefined || !run?.open) return false;
  return run.taskId === undefined ? task === before?.taskId : task !== run.taskId;
}

function taskOf(event: AgentSdkEvent): string | undefined {
  return "emitter_task_id" in event ? (event.emitter_task_id ?? undefined) : undefined;
}

/** When a run began of which this event is the first that was seen. */
export function startOf(event: AgentSdkEvent, at: Instant): Instant {
  return event.type === "tool_call_end" ? movedBack(at, event.result.duration_ms ?? 0) : at;
}

/** The thread of a run whose first lines were not seen becomes known. */
export function nameThread(reading: Reading, threadId: string | undefined): void {
  reading.run.threadId = threadId;
  reading.attributes({ "gen_ai.conversation.id": threadId });
}

/** Whether it is the first event of a call of the agent, where the agent itself numbers them. */
function isFirst(sequence: Count | undefined): boolean {
  return sequence !== undefined && Number(sequence) === 0;
}
