import {
  eventDetails,
  type Instant,
  isSpanTime,
  isTraceparent,
  isWholeNumber,
  type JsonValue,
  readTimestamp,
} from "../../events/door.ts";
import type { DecodeIssue, JsonObject, LineEnvelope } from "./dialect.ts";

/** An envelope that its reader may still change. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Reads the envelope fields of a flat line, in the form of agent-sdk-foundation, into an object of their own. Only
 * `timestamp` is required. `null` counts as absent, except in `parent_tool_use_id`, where it says that there is no
 * parent.
 *
 * @returns `undefined` if a field is wrong. The problems are added to `issues`.
 */
export function readLineEnvelope(
  value: JsonObject,
  issues: DecodeIssue[],
): Writable<LineEnvelope> | undefined {
  const before = issues.length;
  const envelope = readEnvelopeAt(readTime(value.timestamp, issues), value, issues);
  return issues.length === before ? envelope : undefined;
}

/** Like {@link readLineEnvelope} for an event whose time is known. `value.timestamp` is ignored. */
export function readEnvelopeAt(
  timestamp: Readonly<Instant>,
  value: JsonObject,
  issues: DecodeIssue[],
): Writable<LineEnvelope> | undefined {
  const before = issues.length;
  const envelope: Writable<LineEnvelope> = { timestamp };
  // A loop over the field names takes 50 % longer, for every line.
  const eventId = readName(value.event_id, "event_id", issues);
  if (eventId !== undefined) envelope.event_id = eventId;
  const sequence = readSequence(value.sequence, issues);
  if (sequence !== undefined) envelope.sequence = sequence;
  const thread = readName(value.thread_id, "thread_id", issues);
  if (thread !== undefined) envelope.thread_id = thread;
  const session = readName(value.session_id, "session_id", issues);
  if (session !== undefined) envelope.session_id = session;
  const root = readName(value.root_run_id, "root_run_id", issues);
  if (root !== undefined) envelope.root_run_id = root;
  const resumed = readName(value.resumed_from_run_id, "resumed_from_run_id", issues);
  if (resumed !== undefined) envelope.resumed_from_run_id = resumed;
  const { parent_tool_use_id } = value;
  const dispatcher =
    parent_tool_use_id === null ? null : readName(parent_tool_use_id, "parent_tool_use_id", issues);
  if (dispatcher !== undefined) envelope.parent_tool_use_id = dispatcher;
  readTraceContext(value, envelope, issues);
  const { details } = value;
  if (details !== undefined && details !== null) readDetails(details, envelope, issues);
  return issues.length === before ? envelope : undefined;
}

/** The expected range if a valid time cannot be that of a span. */
export const SPAN_TIME = "a time from 1970 to 2262";

const NO_TIME: Readonly<Instant> = [0, 0];

function readTime(value: JsonValue | undefined, issues: DecodeIssue[]): Readonly<Instant> {
  const instant = typeof value === "string" ? readTimestamp(value) : undefined;
  if (instant !== undefined && isSpanTime(instant)) return instant;
  const expected =
    instant === undefined ? "an RFC 3339 time such as 2026-04-29T12:00:00.5Z" : SPAN_TIME;
  issues.push({ field: "timestamp", expected });
  return NO_TIME;
}

function readSequence(
  value: JsonValue | undefined,
  issues: DecodeIssue[],
): number | bigint | undefined {
  if (value === undefined || value === null || isWholeNumber(value)) return value ?? undefined;
  issues.push({ field: "sequence", expected: "a whole number from 0" });
  return undefined;
}

function readName(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "") return value;
  issues.push({ field, expected: "non-empty text, or null" });
  return undefined;
}

function readTraceContext(
  value: JsonObject,
  envelope: Writable<LineEnvelope>,
  issues: DecodeIssue[],
): void {
  const { traceparent, tracestate } = value;
  if (traceparent !== undefined && traceparent !== null) {
    if (isTraceparent(traceparent)) envelope.traceparent = traceparent;
    else {
      const expected = "a W3C traceparent (version-trace id-span id-flags, in hex)";
      issues.push({ field: "traceparent", expected });
    }
  }
  if (tracestate === undefined || tracestate === null) return;
  if (typeof tracestate === "string") envelope.tracestate = tracestate;
  else issues.push({ field: "tracestate", expected: "text, or null" });
}

function readDetails(
  value: JsonValue,
  envelope: Writable<LineEnvelope>,
  issues: DecodeIssue[],
): void {
  const details = eventDetails.adapt?.(value, []) ?? value;
  if (eventDetails.fits(details)) envelope.details = details;
  else eventDetails.explain(details, "details", issues);
}

/**
 * The `tenant_id` of a line whose events name no tenant. `null` counts as absent. Any other value that is not text is
 * added to `issues`.
 */
export function readTenantId(line: JsonObject, issues: DecodeIssue[]): string | undefined {
  const { tenant_id } = line;
  if (tenant_id === undefined || tenant_id === null) return undefined;
  if (typeof tenant_id === "string" && tenant_id !== "") return tenant_id;
  issues.push({ field: "tenant_id", expected: "non-empty text, or null" });
  return undefined;
}
