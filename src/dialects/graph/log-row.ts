import type { ContentPart } from "../../audit/wire/content-part.ts";
import type { Instant } from "../../events/instant.ts";
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
export function worksOn({ event }: GraphLine): boolean {
  return WORKING.has(event.kind) || event.kind === "user_message" || event.kind === "resumed";
}

/** Whether a row begins a run of its thread; asked for rows that name no run. */
export function opensTurn(thread: LogThread, line: GraphLine): boolean {
  const { current } = thread;
  if (current === undefined || current.isClosed) return true;
  switch (line.event.kind) {
    case "user_message":
      return current.isOver || !(thread.awaitsTask || answersTools(line));
    case "resumed":
      return current.mayBeOver;
    default:
      return current.isOver && WORKING.has(line.event.kind);
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
export function isStart({ event }: GraphLine): boolean {
  return event.kind === "user_message" || event.kind === "resumed";
}
