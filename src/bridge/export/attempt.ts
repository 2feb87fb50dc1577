import { codeOf } from "../../events/door.ts";
import { partialSuccess, refusalText } from "./response-body.ts";

/** What became of one attempt to send a request. */
export type Attempt =
  | {
      readonly kind: "taken";
      /** Spans that the endpoint took the request without. */
      readonly refused: number;
      /** What the endpoint said of them. */
      readonly said?: string | undefined;
    }
  | ({
      readonly kind: "failed";
      /** How long the endpoint asks to be left alone, in ms, from 1. */
      readonly afterMs?: number | undefined;
    } & SendFailure);

/** Why an attempt failed. */
export interface SendFailure {
  /** A {@link StatusError} where the endpoint answered. */
  readonly error: Error;
  /** Text of the answer: it may hold what was sent, so the error does not have it. */
  readonly said?: string | undefined;
}

/** The endpoint answered with this status. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The HTTP status of a failure that an endpoint answered with. */
export function statusOf(error: Error): number | undefined {
  return error instanceof StatusError ? error.code : undefined;
}

/** Whether a status says that the endpoint takes nothing now: OTLP has these tried again, and no others. */
export function isPassing(status: number): boolean {
  return PASSING.has(status);
}

const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * What an HTTP response means for its request.
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
  return { kind: "failed", error, said: refusalText(body), afterMs };
}

/**
 * No time, a date that is over by this clock, or no date at all asks for nothing: taken as a wait of
 * 0 ms, each of them would have the request sent again as fast as the endpoint can say no.
 */
function millisecondsOf(retryAfter: string | undefined): number | undefined {
  const text = retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}

/**
 * The error, and in place of Node's about the name of a header one without that name: where somebody wrote
 * `Authorization: Bearer x==` into a variable, all before the equals sign is taken for it, the token too.
 */
export function withoutHeaderName(error: Error): Error {
  const code = codeOf(error);
  if (code !== "ERR_INVALID_HTTP_TOKEN") return error;
  return Object.assign(new TypeError("a header has a name that HTTP can't carry"), { code });
}
