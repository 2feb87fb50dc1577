/** How many seconds' worth of lines may come at once after a pause. */
const BURST_SECONDS = 5;

/** So many lines a second, with a burst after a pause. Time is passed in, in ms of any steady clock. */
export class TokenBucket {
  #rate: number;
  #level: number;
  #at: number;

  /** @param rate lines a second, above 0. It starts full. */
  constructor(rate: number, nowMs: number) {
    this.#rate = rate;
    this.#level = this.#most;
    this.#at = nowMs;
  }

  get #most(): number {
    return Math.max(1, this.#rate * BURST_SECONDS);
  }

  get rate(): number {
    return this.#rate;
  }

  /** What was left stays left: a new rate is no new burst. */
  setRate(rate: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#rate = rate;
    this.#level = Math.min(this.#level, this.#most);
  }

  /** Whether there is room for a line. */
  hasRoom(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#level >= 1;
  }

  /** Takes one line, if there is room for it. */
  take(nowMs: number): boolean {
    if (!this.hasRoom(nowMs)) return false;
    this.#level -= 1;
    return true;
  }

  /** Until there is room for a second's worth of lines, in s: less would be a crawl of tiny requests. */
  wait(nowMs: number): number {
    this.#fill(nowMs);
    return Math.max(0, (Math.max(1, this.#rate) - this.#level) / this.#rate);
  }

  #fill(nowMs: number): void {
    const passed = Math.max(0, nowMs - this.#at);
    this.#at = Math.max(this.#at, nowMs);
    this.#level = Math.min(this.#most, this.#level + (passed / 1000) * this.#rate);
  }
}
