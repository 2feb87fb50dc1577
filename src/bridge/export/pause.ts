import { LONGEST_WAIT_MS } from "../spans/within.ts";
import { Backoff, type RetryPolicy } from "./retry.ts";

/** The time in which nothing is sent, since the endpoint did not take the last request. */
export class Pause {
  readonly #backoff: Backoff;
  readonly #keepsAlive: boolean;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When it ends, by the process's clock in ms. */
  #until = 0;
  /** Asked for by the endpoint, which {@link hurry} respects. */
  #demanded = false;

  /**
   * @param policy `keepsAlive`: whether a pause keeps the process alive.
   * @param onEnd called when things may be sent again.
   */
  constructor(policy: RetryPolicy & { readonly keepsAlive: boolean }, onEnd: () => void) {
    this.#backoff = new Backoff(policy);
    this.#keepsAlive = policy.keepsAlive;
    this.#onEnd = onEnd;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  /** When it ends, by the process's clock in ms. */
  get until(): number {
    return this.#until;
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
    } else if (!this.isOn) this.#wait(this.#backoff.next());
  }

  /** The endpoint takes requests: the next pause is a short one again. */
  reset(): void {
    this.#backoff.reset();
  }

  /** A caller waits: ends the pause now, unless the endpoint asked for it. */
  hurry(): void {
    if (this.isOn && !this.#demanded) this.#end();
  }

  /** Ends the pause without calling `onEnd`. */
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
    this.#timer = setTimeout(() => this.#end(), Math.min(ms, LONGEST_WAIT_MS));
    if (!this.#keepsAlive) this.#timer.unref();
  }

  #end(): void {
    this.stop();
    this.#onEnd();
  }
}
