/** The SDK's span ids: `span_` and 24 hex digits. */
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

/** The events of a call, or of the runs that a span opened: the trace's own, and one below it. */
export type News = keyof typeof LAST_DIGIT;

/** Where the span id's digits stand in the text of a UUID; zeros and the last digit follow. */
const GROUPS = [
  { from: 5, to: 0, digits: 8 },
  { from: 13, to: 9, digits: 4 },
  { from: 17, to: 14, digits: 4 },
  { from: 21, to: 19, digits: 4 },
  { from: 25, to: 24, digits: 4 },
] as const;

/** Written anew for every id: a text made of one piece, since the bridge reads it character by character. */
const CODES = Array.from("00000000-0000-0000-0000-000000000000", (char) => char.charCodeAt(0));

/**
 * The event id of an event of a span: the same however often it is sent. Made to look like a UUID
 * where the span id allows it, since a bridge remembers those as they are and hashes other ids.
 */
export function eventIdOf(spanId: string, news: News): string {
  if (spanId.length !== SPAN_ID_LENGTH) return `${spanId}:${news}`;
  for (const { from, to, digits } of GROUPS) {
    for (let n = 0; n < digits; n++) CODES[to + n] = spanId.charCodeAt(from + n);
  }
  CODES[CODES.length - 1] = LAST_DIGIT[news].charCodeAt(0);
  return String.fromCharCode(...CODES);
}

const PREFIX = "trace_";
const HEX_32 = /^[0-9a-f]{32}$/;

/**
 * The run id of a trace's own run. The SDK's `trace_` and 32 hex digits become the UUID with these
 * digits, so that OpenTelemetry's trace id is the SDK's: one search finds both. Another id stays.
 */
export function runIdOfTrace(traceId: string): string {
  if (!traceId.startsWith(PREFIX)) return traceId;
  const hex = traceId.slice(PREFIX.length);
  if (!HEX_32.test(hex)) return traceId;
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join("-")}-${hex.slice(20)}`;
}

/** The id of the run that goes on after a pause, the same whichever process sends it. */
export function nextRunId(runId: string, openedBy: string): string {
  const dot = runId.indexOf(".");
  return `${dot < 0 ? runId : runId.slice(0, dot)}.${openedBy}`;
}
