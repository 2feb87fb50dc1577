import { LONGEST_WAIT_MS } from "../spans/within.ts";
import { Backoff, type RetryPolicy } from "./retry.ts";

/** The pause after a failed request, in which nothing is sent. */
export class Pause {
  readonly #backoff: Backoff;
  readonly #keepsAlive: boolean;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When it ends, by the process's clock in ms. */
  #until = 0;
  /** Whether the endpoint asked for it. {@link hurry} does not end it then. */
  #demanded = false;

  /**
   * @param policy `keepsAlive`: whether a pause keeps the process alive.
   * @param onEnd called at the end of a pause.
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
   * Begins a pause after a failed attempt. Failures of concurrent requests do not extend it, unless the endpoint
   * asks for it.
   *
   * @param afterMs `Retry-After` of the endpoint in ms.
   */
  begin(afterMs: number | undefined): void {
    if (afterMs !== undefined) {
      this.#demanded = true;
      this.#wait(afterMs);
    } else if (!this.isOn) this.#wait(this.#backoff.next());
  }

  /** Resets the backoff after a successful request. */
  reset(): void {
    this.#backoff.reset();
  }

  /** Ends the pause for a waiting caller, unless the endpoint asked for it. */
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
