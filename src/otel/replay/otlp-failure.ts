/** Whether a receiver takes requests. */
export interface Probe {
  readonly ok: boolean;
  /** HTTP status of a refusal; `undefined` when nobody answered. */
  readonly status: number | undefined;
  /** What the receiver or the system said. */
  readonly said: string;
}

/** What the end of an empty request says of a receiver. */
export function probeOf(failure: Error | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, said: "" };
  return { ok: false, status: statusOf(failure), said: describeFailure(failure) };
}

/** The HTTP status of a failure that a receiver answered with. */
export function statusOf(failure: Error): number | undefined {
  return "code" in failure && typeof failure.code === "number" ? failure.code : undefined;
}

/** A failed request in a line: what the receiver answered, or what the system said. */
export function describeFailure(failure: Error): string {
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
