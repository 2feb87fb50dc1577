import { isPassing, statusOf } from "./attempt.ts";
import { QUIET_MS } from "./retry.ts";

/**
 * Reports that an endpoint takes nothing for a while, then at most once a minute while that lasts. Nothing
 * is lost by it yet, and so no loss is reported: without this a wrong address would show up when the queue
 * is full, or at the shutdown.
 */
export class Outage<F extends { readonly error: Error }> {
  readonly #afterMs: number;
  readonly #report: (failure: F, ms: number) => void;
  /** Since when nothing was taken, by the process's clock; `undefined` while all is well. */
  #since: number | undefined;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param afterMs how long it may take nothing before that is reported. An answer that no wait mends is
   *   reported at once.
   * @param report called with the last failure, and how long the outage has lasted, in ms.
   */
  constructor(afterMs: number, report: (failure: F, ms: number) => void) {
    this.#afterMs = afterMs;
    this.#report = report;
  }

  /** A request is sent. */
  begin(): number {
    this.#since ??= performance.now();
    return this.#since;
  }

  /** The endpoint has dealt with a request. */
  end(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  /** An attempt failed that is made again. */
  failed(failure: F): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const since = this.begin();
    const status = statusOf(failure.error);
    const forOperators = status !== undefined && !isPassing(status);
    const now = performance.now();
    let due = Math.max(this.#quietUntil, since + (forOperators ? 0 : this.#afterMs));
    if (now >= due) {
      due = now + QUIET_MS;
      this.#quietUntil = due;
      this.#report(failure, now - since);
    }
    // The next attempt may be far: an endpoint can ask for an hour.
    this.#timer = setTimeout(() => this.failed(failure), due - now).unref();
  }

  /** Attempts that are given up fail of themselves: that is no news. */
  stop(): void {
    this.#stopped = true;
    this.end();
  }
}
