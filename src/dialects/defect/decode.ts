import type { JsonValue } from "../../events/exact-json.ts";
import { eventIn } from "../decode-line.ts";
import {
  type Decoded,
  type DecodeIssue,
  EVENT_RANK,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
  type RejectedEvent,
} from "../dialect.ts";
import { readLineEnvelope, readTenantId } from "../line-envelope.ts";
import { DEFECT_EVENT_TYPES, type DefectEvent, type LeafEvent } from "./defect-event.ts";
import { isDefectEvent } from "./event-checks.ts";
import { withKnownValues } from "./known-values.ts";

const TYPES: ReadonlySet<unknown> = new Set(DEFECT_EVENT_TYPES);

/**
 * Checks one line of a defect session: the flat envelope `{"timestamp":…,"session_id":…,"type":…,
 * …fields}`, or the event nested as `{…envelope,"event":{"type":…}}`. The event in the result is the
 * given object itself, unless a value had to be replaced. Never throws.
 *
 * An unknown event of a sub-agent is an unknown event of type `subagent/<type>`.
 *
 * @example
 * const decoded = decodeDefect(line);
 * if (decoded.outcome === "event") mapping.translate(decoded.event, decoded.envelope);
 */
export function decodeDefect(value: JsonObject): Decoded<DefectEvent> {
  const fields = eventIn(value);
  if (typeof fields.type !== "string") {
    return rejected([{ field: "type", expected: 'an event type such as "turn_started"' }]);
  }
  const unknown = unknownType(fields.type, fields.inner);
  if (unknown !== undefined) return { outcome: "unknown", unknown, value };
  const found: DecodeIssue[] = [];
  const unknownValues: string[] = [];
  const event = withKnownValues(fields, unknownValues);
  const good = isDefectEvent(event, found);
  const issues = fields === value ? found : found.map(insideEvent);
  const envelope = readEnvelope(value, issues);
  if (!good || envelope === undefined || issues.length > 0) return rejected(issues);
  const rank = rankOf(event.type === "subagent" ? event.inner : event);
  return { outcome: "event", event, envelope, rank, unknownValues };
}

/** The envelope of a line, whatever its type. */
export function readDefectEnvelope(value: JsonObject): LineEnvelope | undefined {
  const issues: DecodeIssue[] = [];
  const envelope = readEnvelope(value, issues);
  return issues.length === 0 ? envelope : undefined;
}

function readEnvelope(value: JsonObject, issues: DecodeIssue[]): LineEnvelope | undefined {
  const envelope = readLineEnvelope(value, issues);
  const tenant = readTenantId(value, issues);
  if (envelope !== undefined && tenant !== undefined) envelope.tenant_id = tenant;
  return envelope;
}

/** Name of an event type that this version does not know. */
function unknownType(type: string, inner: JsonValue | undefined): string | undefined {
  if (type !== "subagent") return TYPES.has(type) ? undefined : type;
  if (!isJsonObject(inner) || typeof inner.type !== "string") return undefined;
  return TYPES.has(inner.type) ? undefined : `subagent/${inner.type}`;
}

function rankOf(event: LeafEvent): EventRank {
  switch (event.type) {
    case "user_prompt_committed":
    case "turn_started":
      return EVENT_RANK.runOpens;
    case "tool_call_started":
      return EVENT_RANK.callOpens;
    case "tool_call_finished":
      return EVENT_RANK.callCloses;
    case "turn_ended":
    case "turn_aborted":
      return EVENT_RANK.runCloses;
    case "assistant_text":
    case "assistant_thought":
    case "tool_call_progress":
    case "policy_decision":
    case "permission_resolved":
    case "llm_call_started":
    case "llm_call_finished":
    case "context_compressed":
    case "context_microcompacted":
      return EVENT_RANK.note;
    default:
      return event satisfies never;
  }
}

function insideEvent({ expected, field }: DecodeIssue): DecodeIssue {
  return { field: `event.${field}`, expected };
}

function rejected(issues: readonly DecodeIssue[]): RejectedEvent {
  return { outcome: "rejected", issues };
}
