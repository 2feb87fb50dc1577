/** A store that has taken nothing for so long, in ms, though it was given something, is stalled. */
const STALLED_MS = 10_000;

/** What has a way to its store. */
export interface OnItsWay {
  /** How much is on its way. */
  readonly count: number;
  /** How much has arrived, or was refused for good. */
  readonly done: number;
}

/**
 * Whether a store gets on with what it is given. Each has one of these: a store that works must not
 * hide another that does not. It is told by looking, at least with each line and every second or so.
 */
export class StoreProgress {
  readonly #way: OnItsWay;
  #done = 0;
  #workedMs: number;

  /** @param nowMs here and below, in ms since 1970. */
  constructor(way: OnItsWay, nowMs: number) {
    this.#way = way;
    this.#workedMs = nowMs;
  }

  /** Called before anything is given to it: what begins after a pause has all of its time. */
  look(nowMs: number): void {
    const { count, done } = this.#way;
    // Less than before: the machine's clock was put back.
    if (count > 0 && done === this.#done && nowMs >= this.#workedMs) return;
    this.#done = done;
    this.#workedMs = nowMs;
  }

  isStalled(nowMs: number): boolean {
    this.look(nowMs);
    return nowMs - this.#workedMs > STALLED_MS;
  }
}
