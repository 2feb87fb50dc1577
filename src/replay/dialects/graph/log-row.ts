import type { AssistantMessage, ContentPart, RunStarted } from "../../../audit/door.ts";
import type { Instant } from "../../../events/door.ts";
import type { GraphLine } from "./graph-line.ts";
import type { LogThread } from "./log-thread.ts";

/** A line with what the run it opens is known by. */
export interface LogRow {
  readonly line: GraphLine;
  readonly at: Instant;
  readonly eventId: string | undefined;
  /** Its event id, else its ordinal in its thread, from 0. */
  readonly opening: string;
}

/** Rows by which an agent works on: after the end of a run they are another run's. */
const WORKING: ReadonlySet<string> = new Set([
  "assistant_message",
  "sub_agent_invoked",
  "thinking_delta",
  "tool_call",
]);

/** Whether a row is a sign that its run goes on. */
export function worksOn(line: GraphLine): boolean {
  return WORKING.has(line.event.kind) || isStart(line);
}

/** Whether a row begins a run of its thread; asked for rows that name no run. */
export function opensTurn(thread: LogThread, line: GraphLine): boolean {
  const { current } = thread;
  if (current === undefined || (current.isClosed && !current.isTold)) return true;
  switch (line.event.kind) {
    case "user_message":
      return current.isOver || !(thread.awaitsTask || answersTools(line));
    case "resumed":
      return current.mayBeOver;
    case "entelix.run_started":
      // The first of a turn that a message opened is that turn's; one with a parent is a sub-agent's.
      return current.isOver || (current.isNamed && !isSubAgent(line));
    default:
      // After an end that the log tells, an answer that is logged late is still of that run.
      return current.isOver && !current.isTold && WORKING.has(line.event.kind);
  }
}

/** Whether a row is a user's message that begins another turn, whatever came before. */
export function beginsTurn(line: GraphLine): boolean {
  return line.event.kind === "user_message" && !answersTools(line);
}

/** A message that only gives the model its tools' results goes on with the turn. */
function answersTools(line: GraphLine): boolean {
  if (line.form !== "known" || line.event.kind !== "user_message") return false;
  const { content } = line.event;
  return content.length > 0 && content.every(isToolResult);
}

function isToolResult(part: ContentPart): boolean {
  return part.type === "tool_result";
}

/** Whether a run that this row opens was seen from its start. */
export function isStart({ event: { kind } }: GraphLine): boolean {
  return kind === "user_message" || kind === "resumed" || kind === "entelix.run_started";
}

/** Whether a start is that of a run below another one. */
export function isSubAgent(line: GraphLine): boolean {
  return startIn(line)?.parent_run_id !== undefined;
}

/** The start of a run that the row tells, if it does. */
export function startIn({ event, form }: GraphLine): RunStarted | undefined {
  return form === "known" && event.kind === "entelix.run_started" ? event : undefined;
}

/** A call of a thread: IDs may come again under another name. */
export function callKey(id: string, name: string): string {
  return `${id}\0${name}`;
}

/** The calls that a message announces; `undefined`: none. */
export function announcedIn({ content }: AssistantMessage): ReadonlySet<string> | undefined {
  let calls: Set<string> | undefined;
  for (const part of content) {
    if (part.type !== "tool_use") continue;
    calls ??= new Set();
    calls.add(callKey(part.id, part.name));
  }
  return calls;
}
