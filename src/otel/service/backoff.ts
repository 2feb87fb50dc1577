/** How long to wait between attempts, in ms: doubled each time, from the first to the most. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly mostMs: number;
}

const RETRY_DELAYS: RetryDelays = { firstMs: 100, mostMs: 10_000 };

/** Waits between attempts, each shortened by chance. */
export class Backoff {
  readonly #delays: RetryDelays;
  #next: number;

  /** @param delays default: from 100 ms to 10 s. */
  constructor(delays: RetryDelays = RETRY_DELAYS) {
    this.#delays = delays;
    this.#next = delays.firstMs;
  }

  /** In ms. Between a half and the whole: those that failed together must not all come back together. */
  next(): number {
    const wait = this.#next;
    this.#next = Math.min(wait * 2, this.#delays.mostMs);
    return wait * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#next = this.#delays.firstMs;
  }
}
