import { reasonOfFailure } from "../setup/span-ledger.ts";
import { isPassing, isTooLarge, NotOtlpError, type SendFailure, statusOf } from "./attempt.ts";
import { EXPORTER_RETRY, type RetryPolicy, SERVICE_RETRY } from "./retry.ts";

/** The retry policy of a sender. */
export interface SendPolicy extends RetryPolicy {
  /** Whether a retry can succeed after this failure. */
  readonly isRetried: (error: Error) => boolean;
  /** Whether a request that failed permanently is sent again as two halves. */
  readonly isSplit: (failure: SendFailure) => boolean;
  /** Limit of `Retry-After` in ms. */
  readonly mostAskedMs: number;
  /** Limit of retries of a request. */
  readonly retries: number;
  /** Time limit of a request with its retries, in ms. */
  readonly withinMs: number;
  /**
   * A request is lost after it failed more often than this while concurrent ones succeeded, since it is then the
   * cause itself.
   */
  readonly overtaken: number;
  /**
   * Whether a failed request is retried before all that were not tried yet. Otherwise it goes to the end, so that
   * a bad request does not block others.
   */
  readonly keepsOrder: boolean;
  /** Whether a wait between attempts keeps the process alive. */
  readonly keepsAlive: boolean;
  /** Duration of an outage before the first report, in ms. */
  readonly outageMs: number;
}

/** OTLP retries these statuses, and requests without a response. */
function isRetriedByOtlp(error: Error): boolean {
  const status = statusOf(error);
  return status === undefined ? !(error instanceof NotOtlpError) : isPassing(status);
}

/**
 * Live spans of an application. Retries until the shutdown. A status that OTLP does not retry loses the request.
 */
export const LIVE: SendPolicy = {
  ...EXPORTER_RETRY,
  isRetried: isRetriedByOtlp,
  isSplit: isTooLarge,
  // Longer outages are tried in between, since a receiver can also recover earlier than it said.
  mostAskedMs: 300_000,
  retries: Number.POSITIVE_INFINITY,
  withinMs: Number.POSITIVE_INFINITY,
  overtaken: 50,
  keepsOrder: true,
  keepsAlive: false,
  // The limit of the stock exporter.
  outageMs: 10_000,
};

/**
 * A command that a user waits for. A few retries within the time of one request, as in the stock exporter. None
 * for permanent errors such as an untrusted certificate.
 */
export const REPLAY: SendPolicy = {
  ...LIVE,
  isRetried: (error) =>
    isRetriedByOtlp(error) &&
    (statusOf(error) !== undefined || RETRIED_BY_COMMANDS.has(reasonOfFailure(error))),
  retries: 5,
  overtaken: Number.POSITIVE_INFINITY,
  keepsAlive: true,
};

const RETRIED_BY_COMMANDS: ReadonlySet<string> = new Set(["unreachable", "timeout"]);

/**
 * A service. It retries temporary errors, and errors that an operator can fix (401, 403, 404, 415), without a
 * limit. Any other 4xx is caused by the spans, and so is a failure while concurrent requests succeed.
 */
export const SERVICE: SendPolicy = {
  ...SERVICE_RETRY,
  isRetried: (error) => {
    const status = statusOf(error);
    return status === undefined || status < 400 || status >= 500 || MENDED.has(status);
  },
  // Only some of the spans are the cause.
  isSplit: () => true,
  // So that it continues within this time after an outage.
  mostAskedMs: SERVICE_RETRY.delays.mostMs,
  retries: Number.POSITIVE_INFINITY,
  withinMs: Number.POSITIVE_INFINITY,
  overtaken: LIVE.overtaken,
  keepsOrder: false,
  keepsAlive: true,
  outageMs: 10_000,
};

const MENDED: ReadonlySet<number> = new Set([401, 403, 404, 408, 415, 429]);
