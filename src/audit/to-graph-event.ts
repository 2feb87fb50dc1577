import { type AgentEvent, type Instant, inUtc } from "../events/door.ts";
import type { GraphEvent } from "./wire/graph-event.ts";

/**
 * The audit entry of a lifecycle event, or `undefined` for an event that leaves none.
 *
 * Only tool events leave one: `tool_start` a `tool_call`, `tool_complete` and `tool_error` a
 * `tool_result`. Of an error the entry has the model's text, and whether the call was cancelled; the
 * operator's text, the rest of the envelope, run, tenant and duration do not pass. An `undefined`
 * output or input gives `null`.
 * Upstream: `AgentEvent::to_graph_event` of entelix-agents.
 *
 * @param timestamp when it happened. Written in UTC with the fewest of 0, 3, 6 or 9 sub-second digits
 *   that lose nothing.
 * @throws RangeError when the event leaves an entry and `timestamp` is a text but no RFC 3339 time.
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
        // Programs without types leave the envelope out.
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

/** A newer agent's event, let through untyped, leaves no entry that we know of. */
function unknownType(_: never): undefined {
  return undefined;
}
