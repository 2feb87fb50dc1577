import { isPassing, NotOtlpError, statusOf } from "./attempt.ts";
import { QUIET_MS } from "./retry.ts";

/**
 * Reports that an endpoint accepts nothing, at most once a minute. No span is lost yet, so no loss is reported.
 * Without this, a wrong address would show only when the queue is full, or at the shutdown.
 */
export class Outage<F extends { readonly error: Error }> {
  readonly #afterMs: number;
  readonly #report: (failure: F, ms: number) => void;
  /** Start of the outage, by the process's clock; `undefined` without one. */
  #since: number | undefined;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param afterMs duration of an outage before the first report, in ms. A permanent error status is reported at
   *   once.
   * @param report called with the last failure, and the duration of the outage in ms.
   */
  constructor(afterMs: number, report: (failure: F, ms: number) => void) {
    this.#afterMs = afterMs;
    this.#report = report;
  }

  /** Records that a request is sent. */
  begin(): number {
    this.#since ??= performance.now();
    return this.#since;
  }

  /** Ends the outage, since the endpoint answered a request. */
  end(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  /** Records a failed attempt that is retried. */
  failed(failure: F): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const since = this.begin();
    const status = statusOf(failure.error);
    const isOperators = status !== undefined && !isPassing(status);
    const forOperators = isOperators || failure.error instanceof NotOtlpError;
    const now = performance.now();
    let due = Math.max(this.#quietUntil, since + (forOperators ? 0 : this.#afterMs));
    if (now >= due) {
      due = now + QUIET_MS;
      this.#quietUntil = due;
      this.#report(failure, now - since);
    }
    // With a timer, since the next attempt can be an hour away if the endpoint asks for it.
    this.#timer = setTimeout(() => this.failed(failure), due - now).unref();
  }

  /** Stops reports, since aborted attempts fail, too. */
  stop(): void {
    this.#stopped = true;
    this.end();
  }
}
