import type { AssistantMessage, ContentPart, RunStarted } from "../../../audit/door.ts";
import type { Instant } from "../../../events/door.ts";
import type { GraphLine } from "./graph-line.ts";
import type { LogThread } from "./log-thread.ts";

/** A line, with the input of the ID of a run that it opens. */
export interface LogRow {
  readonly line: GraphLine;
  readonly at: Instant;
  readonly eventId: string | undefined;
  /** Its event ID, else its ordinal in the thread, from 0. */
  readonly opening: string;
}

/** Kinds of rows that show work. After the end of a run they belong to another run. */
const WORKING: ReadonlySet<string> = new Set([
  "assistant_message",
  "sub_agent_invoked",
  "thinking_delta",
  "tool_call",
]);

/** Whether a row shows that its run continues. */
export function worksOn(line: GraphLine): boolean {
  return WORKING.has(line.event.kind) || isStart(line);
}

/** Whether a row without a run ID opens a run of its thread. */
export function opensTurn(thread: LogThread, line: GraphLine): boolean {
  const { current } = thread;
  if (current === undefined || (current.isClosed && !current.hasStatedEnd)) return true;
  switch (line.event.kind) {
    case "user_message":
      return current.isOver || !(thread.awaitsTask || answersTools(line));
    case "resumed":
      return current.mayBeOver;
    case "entelix.run_started":
      // The first start after a message belongs to the message's turn. A start with a parent is a sub-agent's.
      return current.isOver || (current.isNamed && !isSubAgent(line));
    default:
      // After a recorded end, an answer that is logged late still belongs to that run.
      return current.isOver && !current.hasStatedEnd && WORKING.has(line.event.kind);
  }
}

/** Whether a row is a user's message that begins a turn in any case. */
export function beginsTurn(line: GraphLine): boolean {
  return line.event.kind === "user_message" && !answersTools(line);
}

/** A message with tool results only continues the turn. */
function answersTools(line: GraphLine): boolean {
  if (line.form !== "known" || line.event.kind !== "user_message") return false;
  const { content } = line.event;
  return content.length > 0 && content.every(isToolResult);
}

function isToolResult(part: ContentPart): boolean {
  return part.type === "tool_result";
}

/** Whether a run that this row opens is seen from its start. */
export function isStart({ event: { kind } }: GraphLine): boolean {
  return kind === "user_message" || kind === "resumed" || kind === "entelix.run_started";
}

/** Whether a row is the start of a sub-agent's run. */
export function isSubAgent(line: GraphLine): boolean {
  return startIn(line)?.parent_run_id !== undefined;
}

/** The start of a run, if the row is one. */
export function startIn({ event, form }: GraphLine): RunStarted | undefined {
  return form === "known" && event.kind === "entelix.run_started" ? event : undefined;
}

/** Key of a call in a thread. IDs may repeat under another name. */
export function callKey(id: string, name: string): string {
  return `${id}\0${name}`;
}

/** The calls that a message asks for. `undefined` for none. */
export function announcedIn({ content }: AssistantMessage): ReadonlySet<string> | undefined {
  let calls: Set<string> | undefined;
  for (const part of content) {
    if (part.type !== "tool_use") continue;
    calls ??= new Set();
    calls.add(callKey(part.id, part.name));
  }
  return calls;
}
