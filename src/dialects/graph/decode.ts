import type { ErasedEvent } from "../../audit/audit-row.ts";
import { decodeGraphEvent } from "../../audit/wire/decode-graph-event.ts";
import type { GraphEventKind } from "../../audit/wire/graph-event.ts";
import type { JsonValue } from "../../events/exact-json.ts";
import { nullish, text, value } from "../../events/forms.ts";
import { type Instant, isSpanTime } from "../../events/instant.ts";
import { record } from "../../events/object-forms.ts";
import { isCount } from "../../events/option-checks.ts";
import { readTimestamp } from "../../events/rfc3339.ts";
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
import { readEnvelopeAt, readTenantId, SPAN_TIME } from "../line-envelope.ts";
import type { GraphLine, RowFacts } from "./graph-line.ts";
import { isControlLine } from "./log-lines.ts";

/**
 * Checks one line of a log of GraphEvents: the bare event `{"kind":…,…fields,"timestamp":…}`, the
 * event nested as `{…envelope,"event":{"kind":…}}`, or a row as `NdjsonSessionLog` stores it. The
 * time is the event's own. The event in the result is the given object itself; unknown fields stay in
 * it, and an event of an unknown kind passes too, counted as a value that is not known. Never throws.
 *
 * @example
 * const decoded = decodeGraph(line);
 * if (decoded.outcome === "event") mapping.translate(decoded.event, decoded.envelope);
 */
export function decodeGraph(value: JsonObject): Decoded<GraphLine> {
  if (value.kind === undefined && isJsonObject(value.event)) {
    return decodeEvent(value.event, value);
  }
  if (isControlLine(value)) return SKIPPED;
  return decodeEvent(value, undefined);
}

/** @param line what the event is nested in; a bare event's own fields are no envelope. */
function decodeEvent(fields: JsonObject, line: JsonObject | undefined): Decoded<GraphLine> {
  const decoded = decodeGraphEvent(fields);
  const erased = decoded.issues === undefined || !isErased(fields) ? undefined : fields;
  if (decoded.issues !== undefined && erased === undefined) {
    const inside = line === undefined ? "" : "event.";
    return rejected(
      decoded.issues.map(({ field, expected }) => ({ field: inside + field, expected })),
    );
  }
  // A text that is no time was found above, but for kinds that nothing is known of.
  const at = typeof fields.timestamp === "string" ? readTimestamp(fields.timestamp) : undefined;
  const kind = String(fields.kind);
  if (at === undefined) return { outcome: "unknown", unknown: kind, value: line ?? fields };
  if (!isSpanTime(at)) {
    const field = line === undefined ? "timestamp" : "event.timestamp";
    return rejected([{ field, expected: SPAN_TIME }]);
  }
  const issues: DecodeIssue[] = [];
  const row = line === undefined ? NO_ROW : readRow(line, issues);
  const envelope =
    line === undefined ? { timestamp: at } : readEnvelope(line, at, row.ordinal, issues);
  if (envelope === undefined || issues.length > 0) return rejected(issues);
  const { ordinal, run_id, span_id, trace_id } = row;
  if (erased !== undefined) {
    const event: GraphLine = { form: "erased", event: erased, run_id, trace_id, span_id, ordinal };
    return { outcome: "event", event, envelope, rank: EVENT_RANK.note, unknownValues: NONE };
  }
  if (decoded.event === undefined) return rejected(issues);
  if (!decoded.known) {
    const { event } = decoded;
    const whole: GraphLine = { form: "unknown", event, run_id, trace_id, span_id, ordinal };
    const unknownValues = [`kind=${kind}`];
    return { outcome: "event", event: whole, envelope, rank: EVENT_RANK.note, unknownValues };
  }
  const { event } = decoded;
  const rank = rankOf(event.kind);
  const whole: GraphLine = { form: "known", event, run_id, trace_id, span_id, ordinal };
  return { outcome: "event", event: whole, envelope, rank, unknownValues: NONE };
}

const NONE: readonly string[] = [];

const SKIPPED: Decoded<GraphLine> = { outcome: "skipped" };

const NO_ROW: RowFacts = {};

const wholeFromOne = value(
  "a whole number from 1",
  (given): given is number => isCount(given) && given > 0,
);

const ROW = record({
  run_id: nullish(text),
  trace_id: nullish(text),
  span_id: nullish(text),
  ordinal: nullish(wholeFromOne, wholeFromOne.expected),
});

function readRow(line: JsonObject, issues: DecodeIssue[]): RowFacts {
  if (!ROW.fits(line)) {
    ROW.explain(line, "", issues);
    return NO_ROW;
  }
  const { ordinal, run_id, span_id, trace_id } = line;
  return {
    // An empty run id says as little as none.
    run_id: run_id === undefined ? undefined : (textIn(run_id) ?? null),
    trace_id: textIn(trace_id),
    span_id: textIn(span_id),
    ordinal: ordinal ?? undefined,
  };
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The envelope, with the event's time; a row's ordinal orders its thread as a sequence does. */
function readEnvelope(
  line: JsonObject,
  at: Readonly<Instant>,
  ordinal: number | undefined,
  issues: DecodeIssue[],
): LineEnvelope | undefined {
  const envelope = readEnvelopeAt(at, line, issues);
  const tenant = readTenantId(line, issues);
  if (envelope === undefined) return undefined;
  if (tenant !== undefined) envelope.tenant_id = tenant;
  if (line.sequence === undefined && ordinal !== undefined) envelope.sequence = ordinal;
  return envelope;
}

function isErased(value: JsonObject): value is JsonObject & ErasedEvent {
  return (
    value.erased === true && typeof value.kind === "string" && typeof value.timestamp === "string"
  );
}

/** What a kind does to its thread, for events of one time whose order nothing else says. */
function rankOf(kind: GraphEventKind): EventRank {
  switch (kind) {
    case "user_message":
    case "resumed":
      return EVENT_RANK.runOpens;
    case "tool_call":
    case "sub_agent_invoked":
      return EVENT_RANK.callOpens;
    case "tool_result":
      return EVENT_RANK.callCloses;
    case "interrupt":
    case "cancelled":
    case "usage_limit_exceeded":
    case "tool_error_terminal":
    case "error":
      return EVENT_RANK.runCloses;
    case "assistant_message":
    case "thinking_delta":
    case "context_compacted":
    case "branch_created":
    case "checkpoint_marker":
    case "warning":
    case "rate_limit":
    case "agent_handoff":
    case "memory_recall":
      return EVENT_RANK.note;
    default:
      return kind satisfies never;
  }
}

function rejected(issues: readonly DecodeIssue[]): RejectedEvent {
  return { outcome: "rejected", issues };
}
