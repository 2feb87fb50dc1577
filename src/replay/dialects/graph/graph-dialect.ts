import {
  decodeGraphEvent,
  type ErasedEvent,
  type KnownGraphEvent,
  knownEventForm,
} from "../../../audit/door.ts";
import {
  type Instant,
  isCount,
  isSpanTime,
  type JsonValue,
  nullish,
  readTimestamp,
  record,
  text,
  value,
} from "../../../events/door.ts";
import { rejected } from "../decode-line.ts";
import {
  type Decoded,
  type DecodeIssue,
  type Dialect,
  EVENT_RANK,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
} from "../dialect.ts";
import { readEnvelopeAt, readTenantId, SPAN_TIME } from "../line-envelope.ts";
import { type GraphLine, isControlLine, type RowFacts } from "./graph-line.ts";

/**
 * A log of GraphEvents: a log of `NdjsonSessionLog`, an export of entelix's session log, or bare events, one on each
 * line.
 */
export const graphDialect: Dialect<GraphLine> = {
  name: "graph",
  inOrder: true,

  /** The events of all other dialects have a `type`. */
  looksLike(value: JsonObject): boolean {
    if (value.type !== undefined) return false;
    if (value.kind !== undefined) return isEntry(value);
    if (isJsonObject(value.event)) return value.event.type === undefined && isEntry(value.event);
    return isControlLine(value);
  },

  decode: decodeGraph,

  /** A stream is a thread of a tenant. A sub-agent without a thread has a log named `{parent log}/{call}`. */
  streamKey(_: GraphLine, { session_id = "", tenant_id, thread_id = session_id }: LineEnvelope) {
    const streamOf = (thread: string) =>
      tenant_id === undefined ? thread : `${tenant_id}\0${thread}`;
    const stream = streamOf(thread_id);
    const end = thread_id.lastIndexOf("/");
    return end < 1 ? { stream } : { stream, parent: streamOf(thread_id.slice(0, end)) };
  },

  streamName: (_, { session_id = "", thread_id = session_id }: LineEnvelope) => thread_id,
};

function isEntry({ kind, timestamp }: JsonObject): boolean {
  return (
    typeof kind === "string" && knownEventForm.variants.has(kind) && typeof timestamp === "string"
  );
}

/**
 * Checks one line of a log of GraphEvents: the bare event `{"kind":…,…fields,"timestamp":…}`, the event nested as
 * `{…envelope,"event":{"kind":…}}`, or a row of `NdjsonSessionLog`. The time is that of the event. The event in the
 * result is the given object with its unknown fields. An event of an unknown kind is passed on and counted as an
 * unknown value. Never throws.
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

/** @param line the line that contains the event. A bare event has no envelope. */
function decodeEvent(fields: JsonObject, line: JsonObject | undefined): Decoded<GraphLine> {
  const decoded = decodeGraphEvent(fields);
  const erased = decoded.issues === undefined || !isErased(fields) ? undefined : fields;
  if (decoded.issues !== undefined && erased === undefined) {
    const inside = line === undefined ? "" : "event.";
    return rejected(
      decoded.issues.map(({ field, expected }) => ({ field: inside + field, expected })),
    );
  }
  // Timestamps were checked above, except for unknown kinds.
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
  const rank = RANKS[event.kind];
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
    // An empty run ID counts as a missing one.
    run_id: run_id === undefined ? undefined : (textIn(run_id) ?? null),
    trace_id: textIn(trace_id),
    span_id: textIn(span_id),
    ordinal: ordinal ?? undefined,
  };
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The envelope with the event's time. A row's ordinal replaces a missing sequence. */
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

/** Order of events of equal time, if nothing else decides it. */
const RANKS: Readonly<Record<KnownGraphEvent["kind"], EventRank>> = {
  user_message: EVENT_RANK.runOpens,
  resumed: EVENT_RANK.runOpens,
  "entelix.run_started": EVENT_RANK.runOpens,
  "entelix.tool_call_decided": EVENT_RANK.decision,
  tool_call: EVENT_RANK.callOpens,
  sub_agent_invoked: EVENT_RANK.callOpens,
  tool_result: EVENT_RANK.callCloses,
  interrupt: EVENT_RANK.runCloses,
  cancelled: EVENT_RANK.runCloses,
  usage_limit_exceeded: EVENT_RANK.runCloses,
  tool_error_terminal: EVENT_RANK.runCloses,
  error: EVENT_RANK.runCloses,
  "entelix.run_ended": EVENT_RANK.runCloses,
  assistant_message: EVENT_RANK.note,
  thinking_delta: EVENT_RANK.note,
  context_compacted: EVENT_RANK.note,
  branch_created: EVENT_RANK.note,
  checkpoint_marker: EVENT_RANK.note,
  warning: EVENT_RANK.note,
  rate_limit: EVENT_RANK.note,
  agent_handoff: EVENT_RANK.note,
  memory_recall: EVENT_RANK.note,
};
