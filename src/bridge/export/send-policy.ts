import { reasonOfFailure } from "../setup/span-ledger.ts";
import { isPassing, statusOf } from "./attempt.ts";
import { EXPORTER_RETRY, type RetryPolicy, SERVICE_RETRY } from "./retry.ts";

/** When a sender tries a request again, and when it stops. */
export interface SendPolicy extends RetryPolicy {
  /** Whether a request that failed so may be taken later. */
  readonly isRetried: (error: Error) => boolean;
  /** The longest wait that an endpoint can ask for with `Retry-After`, in ms. */
  readonly mostAskedMs: number;
  /** So often a request is tried again at most. */
  readonly retries: number;
  /** How long a request may take with its retries, in ms. */
  readonly withinMs: number;
  /**
   * A request is lost after it has failed more often than this while others beside it were taken: the
   * failure is about the request.
   */
  readonly passedOver: number;
  /**
   * Whether a request that failed goes back to its place before all that have not been tried. Else it goes
   * behind them, so that requests that fail for what is in them hold up no others.
   */
  readonly keepsOrder: boolean;
  /** Whether a wait between attempts keeps the process alive. */
  readonly keepsAlive: boolean;
  /** How long an endpoint may take nothing before that is reported, in ms. */
  readonly outageMs: number;
}

/** OTLP has these statuses and no others tried again, and whatever was not answered. */
function isRetriedByOtlp(error: Error): boolean {
  const status = statusOf(error);
  return status === undefined || isPassing(status);
}

/**
 * Live spans of an application: tried again until the shutdown; an answer that OTLP does not have tried
 * again loses the request.
 */
export const LIVE: SendPolicy = {
  ...EXPORTER_RETRY,
  isRetried: isRetriedByOtlp,
  mostAskedMs: Number.POSITIVE_INFINITY,
  retries: Number.POSITIVE_INFINITY,
  withinMs: Number.POSITIVE_INFINITY,
  passedOver: 50,
  keepsOrder: true,
  keepsAlive: false,
  // The stock exporter gives up then.
  outageMs: 10_000,
};

/**
 * A command that a user waits for: a few retries within the time of one request, as the stock exporter
 * has them; none for what no wait mends, a certificate that is not trusted, say.
 */
export const REPLAY: SendPolicy = {
  ...LIVE,
  isRetried: (error) =>
    isRetriedByOtlp(error) &&
    (statusOf(error) !== undefined || RETRIED_BY_COMMANDS.has(reasonOfFailure(error))),
  retries: 5,
  passedOver: Number.POSITIVE_INFINITY,
  keepsAlive: true,
};

const RETRIED_BY_COMMANDS: ReadonlySet<string> = new Set(["unreachable", "timeout"]);

/**
 * A service, which gives up nothing because of an outage: whatever an operator mends (401, 403, 404, 415) or
 * time does is tried again. Any other 4xx is about the spans, and so is any failure while requests beside it
 * are taken again and again.
 */
export const SERVICE: SendPolicy = {
  ...SERVICE_RETRY,
  isRetried: (error) => {
    const status = statusOf(error);
    return status === undefined || status < 400 || status >= 500 || MENDED.has(status);
  },
  // It promises to go on within that time when the receiver is back.
  mostAskedMs: SERVICE_RETRY.delays.mostMs,
  retries: Number.POSITIVE_INFINITY,
  withinMs: Number.POSITIVE_INFINITY,
  passedOver: LIVE.passedOver,
  keepsOrder: false,
  keepsAlive: true,
  outageMs: 10_000,
};

const MENDED: ReadonlySet<number> = new Set([401, 403, 404, 408, 415, 429]);
