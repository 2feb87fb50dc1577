/** What became of one attempt to send a request. */
export type Answer =
  | {
      readonly kind: "taken";
      /** Spans that the endpoint took the request without. */
      readonly refused: number;
    }
  | {
      /** Not taken, but it may be later. */
      readonly kind: "later";
      readonly error: Error;
      /** How long the endpoint asks to be left alone, in ms, from 1. */
      readonly afterMs: number | undefined;
    }
  | {
      /** The endpoint does not want it, however often it comes. */
      readonly kind: "refused";
      readonly error: Error;
    };

/** The endpoint answered with this status. Its text is left out: it may hold what was sent. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The statuses that OTLP has retried; any other error is for good. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * What an HTTP response means for its request.
 *
 * @param refused spans that a success says it was taken without.
 * @param retryAfter the header: seconds, or a date.
 */
export function answerOf(
  status: number,
  message: string,
  refused: () => number,
  retryAfter: string | undefined,
): Answer {
  if (status >= 200 && status < 300) return { kind: "taken", refused: refused() };
  const error = new StatusError(status, message);
  if (!PASSING.has(status)) return { kind: "refused", error };
  return { kind: "later", error, afterMs: millisecondsOf(retryAfter) };
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
