import type { Instant } from "../../../events/door.ts";
import type { AgentSdkEvent, Count } from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { Reading } from "./reading.ts";
import { movedBack } from "./tool-calls.ts";

/**
 * Whether an event may open a run. A terminal event may, if it is the agent's first event and no run is open: the agent
 * was called and refused before its first turn, for example because the budget was used up.
 *
 * @param run the thread's run, open or over.
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
 * Whether a prompt or a turn opens a new run while one is open. A server's worker adds prompts to an open run, and
 * retries its first turn, both under the run's task. A newly called agent begins with its first turn or, from 0.10 on,
 * continues the turns of its thread. It then numbers its events from 0 again, also if it is called once for each turn
 * of a run.
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
 * Whether an event belongs to another task than the open turn. A cancelled task may still report after the next one has
 * begun.
 *
 * @param before the previous run of the thread.
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

/** Start of a run whose first seen event is `event`. */
export function startOf(event: AgentSdkEvent, at: Instant): Instant {
  return event.type === "tool_call_end" ? movedBack(at, event.result.duration_ms ?? 0) : at;
}

/** Sets the thread of a run whose first lines were not seen. */
export function nameThread(reading: Reading, threadId: string | undefined): void {
  reading.run.threadId = threadId;
  reading.attributes({ "gen_ai.conversation.id": threadId });
}

/** Whether this is the first event of an agent call. Agents number their events from 0. */
function isFirst(sequence: Count | undefined): boolean {
  return sequence !== undefined && Number(sequence) === 0;
}
