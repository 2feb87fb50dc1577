const FIRST_MS = 100;
const MOST_MS = 10_000;

/** Waits between attempts: from 100 ms, doubled to at most 10 s, each shortened by chance. */
export class Backoff {
  #next = FIRST_MS;

  /** In ms. Between a half and the whole, so that many clients do not ask at once. */
  next(): number {
    const wait = this.#next;
    this.#next = Math.min(wait * 2, MOST_MS);
    return wait * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#next = FIRST_MS;
  }
}
