/** How long something has not moved although it could. */
export class StuckClock {
  #position: number;
  #movedMs: number;

  /** @param nowMs here and below, of a clock that is never put back. */
  constructor(position: number, nowMs: number) {
    this.#position = position;
    this.#movedMs = nowMs;
  }

  /**
   * Call it every second or so.
   *
   * @param free nothing waits, or what is waited for has an alert of its own.
   * @returns since when, in ms; 0 where it moves or is free.
   */
  look(position: number, free: boolean, nowMs: number): number {
    if (free || position !== this.#position) {
      this.#position = position;
      this.#movedMs = nowMs;
    }
    return nowMs - this.#movedMs;
  }
}
