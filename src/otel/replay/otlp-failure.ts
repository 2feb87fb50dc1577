/** Whether a receiver takes requests. */
export interface Probe {
  readonly ok: boolean;
  /** HTTP status of a refusal; `undefined` when nobody answered, or the exporter does not tell it. */
  readonly status: number | undefined;
  /** It answered that it takes nothing now. */
  readonly busy: boolean;
  /** What the receiver or the system said. */
  readonly said: string;
}

/** What the end of an empty request says of a receiver. */
export function probeOf(failure: Error | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, busy: false, said: "" };
  const said = describeFailure(failure);
  return { ok: false, status: statusOf(failure), busy: isBusy(failure), said };
}

/**
 * Whether a receiver answered that it is to be asked again later, for as long as it was asked. Which
 * status that was the exporter keeps to itself: its text is all there is.
 */
function isBusy(failure: Error): boolean {
  return /retryable status/i.test(failure.message);
}

/** The HTTP status of a failure that a receiver answered with. */
export function statusOf(failure: Error): number | undefined {
  return "code" in failure && typeof failure.code === "number" ? failure.code : undefined;
}

/** A failed request in a line: what the receiver answered, or what the system said. */
export function describeFailure(failure: Error): string {
  if (isBusy(failure)) return "HTTP 429, 502, 503 or 504: it takes nothing now";
  const status = statusOf(failure);
  const code = "code" in failure ? String(failure.code) : "";
  if (status === undefined) return failure.message || code || failure.name;
  const body = "data" in failure && typeof failure.data === "string" ? textIn(failure.data) : "";
  const answer = `HTTP ${status} ${failure.message}`.trimEnd();
  return body === "" || body === "{}" ? answer : `${answer}: ${body.slice(0, 300)}`;
}

/**
 * What the body of a failed answer says. Who takes protobuf answers with a `google.rpc.Status`, and the
 * exporter has made text of its bytes: field 1 the code, of one byte; field 2 the message, whose length
 * is one byte, or two of which the first is no text.
 */
function textIn(body: string): string {
  const rest = body.charCodeAt(0) === CODE ? body.slice(2) : body;
  if (rest.charCodeAt(0) !== MESSAGE) return rest.trim();
  const length = rest.charCodeAt(1) === NO_TEXT ? 2 : 1;
  return rest.slice(1 + length).trim();
}

const CODE = 0x08;
const MESSAGE = 0x12;
const NO_TEXT = 0xfffd;
