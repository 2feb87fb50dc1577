import { stringifyExact } from "../../../../src/entries/events.ts";
import { formatRfc3339 } from "../../../../src/events/door.ts";
import type {
  DefectEvent,
  DefectUsage,
  LeafEvent,
  ToolCallFields,
} from "../../../../src/replay/dialects/defect/events.ts";
import type { LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";

/**
 * Writes an event as one line, equal by value to what defect's own serde writes: what is not set is
 * left out of the fields of a tool call and `null` everywhere else. Integers keep every digit, and
 * fields that this version does not know stay.
 *
 * @param envelope written beside the event; not needed for an event that was decoded from a flat
 *   line, which still has those fields.
 *
 * @example
 * encodeDefect({ type: "turn_started" }, { timestamp: [1_781_258_400, 0], session_id: "s1" });
 * // '{"timestamp":"2026-06-12T10:00:00Z","session_id":"s1","type":"turn_started"}'
 */
export function encodeDefect(event: DefectEvent, envelope?: LineEnvelope): string {
  const written =
    event.type === "subagent" ? { ...event, inner: asWritten(event.inner) } : asWritten(event);
  if (envelope === undefined) return stringifyExact(written);
  return stringifyExact({
    ...envelope,
    timestamp: formatRfc3339(envelope.timestamp),
    ...written,
  });
}

function asWritten(event: LeafEvent): LeafEvent {
  switch (event.type) {
    case "tool_call_started":
      return { ...event, fields: withoutNulls(event.fields) };
    case "tool_call_progress":
      return { ...event, fields: withoutNulls(event.fields) };
    case "tool_call_finished":
      return { ...event, fields: withoutNulls(event.fields) };
    case "turn_ended":
      return { ...event, usage: withNulls(event.usage) };
    case "llm_call_finished":
      return { ...event, usage: withNulls(event.usage), error: event.error ?? null };
    case "turn_started":
    case "turn_aborted":
    case "user_prompt_committed":
    case "assistant_text":
    case "assistant_thought":
    case "policy_decision":
    case "permission_resolved":
    case "llm_call_started":
    case "context_compressed":
    case "context_microcompacted":
      return event;
    default:
      return event satisfies never;
  }
}

/** A `null` that came would be read back as absent. */
function withoutNulls(fields: ToolCallFields): ToolCallFields {
  const set = Object.entries(fields).filter(([, value]) => value !== null);
  return set.length === Object.keys(fields).length ? fields : Object.fromEntries(set);
}

function withNulls(usage: DefectUsage | null | undefined): DefectUsage {
  return {
    input_tokens: null,
    output_tokens: null,
    cache_read_input_tokens: null,
    cache_creation_input_tokens: null,
    ...usage,
  };
}
