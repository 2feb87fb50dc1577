import {
  type Decoded,
  type DecodeIssue,
  EVENT_RANK,
  type EventRank,
  type JsonObject,
  type LineEnvelope,
} from "../dialect.ts";
import { readLineEnvelope } from "../line-envelope.ts";
import { eventIn } from "../nested-event.ts";
import { readTenantId } from "../tenant-field.ts";
import { isAgentSdkEvent, isKnownType } from "./event-checks.ts";
import type { AgentSdkEvent } from "./events.ts";
import { unknownValuesOf } from "./unknown-values.ts";

/**
 * Checks one line of agent-sdk events: upstream's flat envelope
 * `{"event_id":…,"sequence":…,"timestamp":…,"type":…,…fields}`, or the event nested as
 * `{…envelope,"event":{"type":…}}`. Versions 0.9 to 0.18 are read; what later ones add passes. The
 * event in the result is the given object itself. Never throws.
 *
 * @example
 * const decoded = decodeAgentSdk(line);
 * if (decoded.outcome === "event") mapping.translate(decoded.event, decoded.envelope);
 */
export function decodeAgentSdk(value: JsonObject): Decoded<AgentSdkEvent> {
  return decodeParts(eventIn(value), value);
}

function decodeParts(fields: JsonObject, line: JsonObject): Decoded<AgentSdkEvent> {
  if (typeof fields.type !== "string") {
    const issue = { field: "type", expected: 'an event type such as "start"' };
    return { outcome: "rejected", issues: [issue] };
  }
  if (!isKnownType(fields.type)) return { outcome: "unknown", unknown: fields.type, value: line };
  const issues: DecodeIssue[] = [];
  const event = isAgentSdkEvent(fields, issues) ? fields : undefined;
  const all = fields === line ? issues : issues.map(insideEvent);
  const envelope = readEnvelope(fields, line, all);
  if (event === undefined || envelope === undefined) {
    return { outcome: "rejected", issues: withoutRepeats(all) };
  }
  const unknownValues = unknownValuesOf(event);
  return { outcome: "event", event, envelope, rank: rankOf(event), unknownValues };
}

/** The envelope of a line, whatever its type. */
export function readAgentSdkEnvelope(value: JsonObject): LineEnvelope | undefined {
  return readEnvelope(eventIn(value), value, []);
}

/** A thread id may be the event's own or the envelope's, and in a flat line it is both. */
function readEnvelope(
  fields: JsonObject,
  line: JsonObject,
  issues: DecodeIssue[],
): LineEnvelope | undefined {
  const envelope = readLineEnvelope(line, issues);
  const tenant = readTenantId(line, issues);
  if (envelope === undefined || issues.length > 0) return undefined;
  if (tenant !== undefined) envelope.tenant_id = tenant;
  const thread = envelope.thread_id ?? fields.thread_id;
  if (typeof thread === "string") envelope.thread_id = thread;
  return envelope;
}

function withoutRepeats(issues: readonly DecodeIssue[]): DecodeIssue[] {
  return issues.filter(
    ({ field }, index) => issues.findIndex((issue) => issue.field === field) === index,
  );
}

function insideEvent({ field, expected }: DecodeIssue): DecodeIssue {
  return { field: `event.${field}`, expected };
}

/**
 * Without sequences (upstream always sends them) it decides between equal times. A `start` is often
 * that of a later turn, and so it opens no run as far as the order goes.
 */
function rankOf(event: AgentSdkEvent): EventRank {
  switch (event.type) {
    case "thread_created":
    case "user_input":
      return EVENT_RANK.runOpens;
    case "start":
      return EVENT_RANK.decision;
    case "tool_call_start":
      return EVENT_RANK.callOpens;
    case "tool_call_end":
    case "turn_complete":
      return EVENT_RANK.callCloses;
    case "done":
    case "budget_exceeded":
    case "error":
    case "refusal":
    case "cancelled":
      return EVENT_RANK.runCloses;
    case "thinking":
    case "thinking_delta":
    case "text":
    case "text_delta":
    case "tool_progress":
    case "tool_requires_confirmation":
    case "auto_retry_start":
    case "auto_retry_end":
    case "context_compacted":
    case "subagent_progress":
    case "question_asked":
    case "account_rotation":
    case "account_pool_exhausted":
      return EVENT_RANK.note;
    default:
      return event satisfies never;
  }
}
