/** Length of the SDK's span IDs: `span_` and 24 hex digits. */
const SPAN_ID_LENGTH = 29;

const LAST_DIGIT = {
  start: "1",
  end: "2",
  approved: "3",
  denied: "4",
  "root-start": "5",
  "root-end": "6",
  "run-start": "7",
  "run-end": "8",
} as const;

/** An event of a call, or of a run that a span opened: the trace's own run, or one below it. */
export type SpanEvent = keyof typeof LAST_DIGIT;

/** Positions of the span ID's digits in a UUID. Zeros and the last digit follow. */
const GROUPS = [
  { from: 5, to: 0, digits: 8 },
  { from: 13, to: 9, digits: 4 },
  { from: 17, to: 14, digits: 4 },
  { from: 21, to: 19, digits: 4 },
  { from: 25, to: 24, digits: 4 },
] as const;

/** Reused for every ID, which makes a flat string. The bridge reads it character by character. */
const CODES = Array.from("00000000-0000-0000-0000-000000000000", (char) => char.charCodeAt(0));

/**
 * The ID of a span's event, the same whenever it is sent. It looks like a UUID if the span's ID allows it, because a
 * bridge stores UUIDs directly and hashes other IDs.
 */
export function eventIdOf(spanId: string, event: SpanEvent): string {
  if (spanId.length !== SPAN_ID_LENGTH) return `${spanId}:${event}`;
  for (const { from, to, digits } of GROUPS) {
    for (let n = 0; n < digits; n++) CODES[to + n] = spanId.charCodeAt(from + n);
  }
  CODES[CODES.length - 1] = LAST_DIGIT[event].charCodeAt(0);
  return String.fromCharCode(...CODES);
}

const PREFIX = "trace_";
const HEX_32 = /^[0-9a-f]{32}$/;

/**
 * The run ID of a trace's own run. `trace_` and 32 hex digits become the UUID with these digits, so that
 * OpenTelemetry has the same trace ID as the SDK. Other IDs are unchanged.
 */
export function runIdOfTrace(traceId: string): string {
  if (!traceId.startsWith(PREFIX)) return traceId;
  const hex = traceId.slice(PREFIX.length);
  if (!HEX_32.test(hex)) return traceId;
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join("-")}-${hex.slice(20)}`;
}

/** The ID of a resumed run, the same in every process. */
export function nextRunId(runId: string, openedBy: string): string {
  const dot = runId.indexOf(".");
  return `${dot < 0 ? runId : runId.slice(0, dot)}.${openedBy}`;
}
