import { codeOf } from "../../events/door.ts";
import { NOT_OTLP } from "../setup/span-ledger.ts";
import { isOtlpAnswer, partialSuccess, refusalText } from "./response-body.ts";

/** The result of one attempt to send a request. */
export type Attempt =
  | {
      readonly kind: "taken";
      /** Number of spans that the endpoint rejected. */
      readonly refused: number;
      /** The endpoint's reason. */
      readonly detail?: string | undefined;
    }
  | ({
      readonly kind: "failed";
    } & SendFailure);

/** Why an attempt failed. */
export interface SendFailure {
  /** A {@link StatusError} if the endpoint answered. */
  readonly error: Error;
  /** Text of the response. It is not in the error, since it can contain data that was sent. */
  readonly detail?: string | undefined;
  /** `Retry-After` of the endpoint in ms, from 1. */
  readonly afterMs?: number | undefined;
}

/** An error status of the endpoint. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The server is not an OTLP/HTTP receiver: it answers a page, a health check, or HTTP/2. */
export class NotOtlpError extends Error {
  override readonly name = NOT_OTLP;
  /** HTTP status; `undefined` if the answer is not HTTP/1.1. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** The HTTP status of a failure, if the endpoint answered. */
export function statusOf(error: Error): number | undefined {
  if (error instanceof NotOtlpError) return error.status;
  return error instanceof StatusError ? error.code : undefined;
}

/** Whether a status is temporary. OTLP retries only these. */
export function isPassing(status: number): boolean {
  return PASSING.has(status);
}

const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** An HTTP response. */
export interface Answer {
  readonly status: number;
  /** Reason phrase. */
  readonly message: string;
  readonly body: Uint8Array;
  /** Media type of the body, without parameters. */
  readonly type?: string | undefined;
  /** The header `Retry-After`: seconds, or a date. */
  readonly retryAfter?: string | undefined;
}

/** The result of an attempt, from the HTTP response. */
export function attemptOf({ body, message, retryAfter, status, type }: Answer): Attempt {
  if (status >= 200 && status < 300) {
    if (isOtlpAnswer(type, body)) return { kind: "taken", ...partialSuccess(body) };
    const found = type ?? "an unknown media type";
    const error = new NotOtlpError(
      `not an OTLP receiver: it answers ${status} with ${found}`,
      status,
    );
    return { kind: "failed", error, detail: type === "text/html" ? undefined : refusalText(body) };
  }
  const error = new StatusError(status, message);
  const afterMs = isPassing(status) ? millisecondsOf(retryAfter) : undefined;
  return { kind: "failed", error, detail: refusalText(body), afterMs };
}

/** Whether the receiver says that the request is too large. Receivers use several statuses for it. */
export function isTooLarge({ detail = "", error }: SendFailure): boolean {
  const status = statusOf(error);
  if (status === undefined || status < 400) return false;
  if (status === 413) return true;
  // Without the reason phrase, since that of 429 is "Too Many Requests".
  return TOO_LARGE.test(`${error.message} ${detail}`) && !TOO_MUCH.test(detail);
}

const TOO_LARGE =
  /too (?:large|big)|larger than|(?:size|length|body|payload)(?: limit)? exceeded|exceeds (?:the )?(?:max|size|length)/i;

/** A limit of requests in a time: the same request can succeed later. */
const TOO_MUCH = /\brates?\b|quota|throttl|too many/i;

/** One line about a failed request: the response, or the error of the system. */
export function describeFailure({ error, detail = "" }: SendFailure): string {
  const status = statusOf(error);
  const code = "code" in error ? String(error.code) : "";
  const more = detail === "" || detail === "{}" ? "" : `: ${detail.slice(0, 300)}`;
  if (error instanceof NotOtlpError) return `${error.message}${more}`;
  if (status === undefined) return error.message || code || error.name;
  const busy = isPassing(status) ? " (it takes nothing now)" : "";
  return `${`HTTP ${status} ${error.message}`.trimEnd()}${busy}${more}`;
}

/**
 * `undefined` for 0, a past date or an invalid date, since a wait of 0 ms would repeat the request as fast as
 * the endpoint can reject it.
 */
function millisecondsOf(retryAfter: string | undefined): number | undefined {
  const text = retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}

/**
 * Replaces Node's error about an invalid header name by one without the name, which can contain a secret: for
 * `Authorization: Bearer x==` in a variable, the name is the text before the equals sign, with the token.
 */
export function withoutHeaderName(error: Error): Error {
  const code = codeOf(error);
  if (code !== "ERR_INVALID_HTTP_TOKEN") return error;
  return Object.assign(new TypeError("a header has a name that HTTP can't carry"), { code });
}
