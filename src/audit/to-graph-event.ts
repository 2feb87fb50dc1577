import { type AgentEvent, type Instant, inUtc } from "../events/door.ts";
import type { GraphEvent } from "./wire/graph-event.ts";

/**
 * The audit entry of a lifecycle event. `undefined` for an event without one.
 *
 * Only tool events have one: a `tool_call` for `tool_start`, a `tool_result` for `tool_complete` and `tool_error`.
 * The entry of an error has the text that the model received, and whether the call was cancelled. It has neither the
 * operator's text nor the rest of the envelope, run, tenant and duration. An `undefined` output or input becomes
 * `null`.
 * Upstream: `AgentEvent::to_graph_event` of entelix-agents.
 *
 * @param timestamp the time of the event. Written in UTC with the fewest of 0, 3, 6 or 9 sub-second digits that lose
 *   nothing.
 * @throws RangeError if the event has an entry and `timestamp` is a text that is not an RFC 3339 time.
 *
 * @example
 * toGraphEvent(event, "2026-04-29T21:00:00.120+09:00")?.timestamp; // "2026-04-29T12:00:00.120Z"
 */
export function toGraphEvent(
  event: AgentEvent,
  timestamp: string | Readonly<Instant>,
): GraphEvent | undefined {
  switch (event.type) {
    case "tool_start":
      return {
        kind: "tool_call",
        id: event.tool_use_id,
        name: event.tool,
        input: event.input === undefined ? null : event.input,
        timestamp: inUtc(timestamp),
      };
    case "tool_complete":
      return {
        kind: "tool_result",
        tool_use_id: event.tool_use_id,
        name: event.tool,
        content: event.output === undefined ? null : event.output,
        is_error: false,
        timestamp: inUtc(timestamp),
      };
    case "tool_error":
      return {
        kind: "tool_result",
        tool_use_id: event.tool_use_id,
        name: event.tool,
        content: event.error_for_llm === undefined ? null : event.error_for_llm,
        is_error: true,
        // Untyped programs may leave out the envelope.
        ...(event.envelope?.cancelled === true ? { cancelled: true } : {}),
        timestamp: inUtc(timestamp),
      };
    case "started":
    case "tool_call_asked":
    case "tool_call_approved":
    case "tool_call_denied":
    case "complete":
    case "failed":
    case "interrupted":
    case "model_start":
    case "model_complete":
    case "model_error":
    case "step_start":
    case "step_complete":
    case "step_error":
      return undefined;
    default:
      return unknownType(event);
  }
}

/** An event of a newer agent has no known entry. */
function unknownType(_: never): undefined {
  return undefined;
}
