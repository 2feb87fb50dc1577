import { LONGEST_WAIT_MS } from "../within.ts";

/** How long nothing is sent after an attempt that failed. */
export interface Backoff {
  /** After the first failure, in ms. Default 1,000. */
  readonly firstMs: number;
  /** At most, in ms. Default 5,000. */
  readonly mostMs: number;
}

/** Each wait is so many times the one before it. */
const FACTOR = 1.5;
/** Waits differ by up to this share, so that many processes don't come back at once. */
const JITTER = 0.2;

/** The time in which nothing is sent, since the endpoint did not take the last request. */
export class Pause {
  readonly #backoff: Backoff;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When it ends, by the process's clock in ms. */
  #until = 0;
  /** Asked for by the endpoint, which {@link hurry} respects. */
  #demanded = false;
  #nextMs: number;

  /** @param onEnd told when things may be sent again. */
  constructor(backoff: Backoff, onEnd: () => void) {
    this.#backoff = backoff;
    this.#onEnd = onEnd;
    this.#nextMs = backoff.firstMs;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * An attempt failed. Those of requests that were under way with it make the pause no longer,
   * unless the endpoint says so.
   *
   * @param afterMs how long the endpoint asks to be left alone.
   */
  begin(afterMs: number | undefined): void {
    if (afterMs !== undefined) {
      this.#demanded = true;
      this.#wait(afterMs);
    } else if (!this.isOn) {
      const jitter = 1 - JITTER + 2 * JITTER * Math.random();
      this.#wait(this.#nextMs * jitter);
      this.#nextMs = Math.min(this.#nextMs * FACTOR, this.#backoff.mostMs);
    }
  }

  /** The endpoint takes requests: the next pause is a short one again. */
  reset(): void {
    this.#nextMs = this.#backoff.firstMs;
  }

  /** Ends it now, unless the endpoint asked for it: somebody waits. */
  hurry(): void {
    if (this.isOn && !this.#demanded) this.#end();
  }

  /** Ends it without a word. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#demanded = false;
  }

  #wait(ms: number): void {
    const until = performance.now() + ms;
    if (this.isOn && until <= this.#until) return;
    clearTimeout(this.#timer);
    this.#until = until;
    this.#timer = setTimeout(() => this.#end(), Math.min(ms, LONGEST_WAIT_MS)).unref();
  }

  #end(): void {
    this.stop();
    this.#onEnd();
  }
}
