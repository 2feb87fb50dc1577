import { codeOf } from "../../events/door.ts";
import { partialSuccess, refusalText } from "./response-body.ts";

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
      /** `Retry-After` of the endpoint in ms, from 1. */
      readonly afterMs?: number | undefined;
    } & SendFailure);

/** Why an attempt failed. */
export interface SendFailure {
  /** A {@link StatusError} if the endpoint answered. */
  readonly error: Error;
  /** Text of the response. It is not in the error, since it can contain data that was sent. */
  readonly detail?: string | undefined;
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

/** The HTTP status of a failure, if the endpoint answered. */
export function statusOf(error: Error): number | undefined {
  return error instanceof StatusError ? error.code : undefined;
}

/** Whether a status is temporary. OTLP retries only these. */
export function isPassing(status: number): boolean {
  return PASSING.has(status);
}

const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * The result of an attempt, from the HTTP response.
 *
 * @param retryAfter the header: seconds, or a date.
 */
export function attemptOf(
  status: number,
  message: string,
  body: Uint8Array,
  retryAfter: string | undefined,
): Attempt {
  if (status >= 200 && status < 300) return { kind: "taken", ...partialSuccess(body) };
  const error = new StatusError(status, message);
  const afterMs = isPassing(status) ? millisecondsOf(retryAfter) : undefined;
  return { kind: "failed", error, detail: refusalText(body), afterMs };
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
