import { stringifyExact } from "../../../../src/entries/events.ts";
import { formatRfc3339, type Instant, trimmedEnd } from "../../../../src/events/door.ts";
import {
  type AgentSdkEvent,
  ENVELOPE_FIELDS,
} from "../../../../src/replay/dialects/agent-sdk/events.ts";
import type { LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";

/**
 * Writes an event as upstream does: one flat object, the envelope first, then `type` and the fields
 * of the event with all that is not known of it. One line of text, without its newline.
 *
 * The time has as many sub-second digits as it needs, as upstream's has; integers beyond 2^53 are
 * written with every digit.
 *
 * @example
 * encodeAgentSdk({ type: "start", thread_id: "t", turn: 1 }, { timestamp: [1780653600, 0] });
 * // '{"timestamp":"2026-06-05T10:00:00Z","type":"start","thread_id":"t","turn":1}'
 */
export function encodeAgentSdk(event: AgentSdkEvent, envelope: LineEnvelope): string {
  const { event_id, sequence, timestamp, thread_id, ...rest } = envelope;
  const line: Record<string, unknown> = { event_id, sequence, timestamp: timeText(timestamp) };
  Object.assign(line, rest);
  if (!("thread_id" in event)) line.thread_id = thread_id;
  for (const [field, value] of Object.entries(event)) {
    if (!ENVELOPE_FIELDS.has(field)) line[field] = value;
  }
  return stringifyExact(line);
}

function timeText(at: Readonly<Instant>): string {
  const text = formatRfc3339(at);
  return at[1] === 0 ? text : `${trimmedEnd(text.slice(0, -1), "0")}Z`;
}
