import type { Call } from "./call.ts";
import type { RunIds } from "./run-ids.ts";

/**
 * Which call ids the closed runs had, as words of their span ids in one ring of numbers: the newest overwrite the
 * oldest, and nothing here costs the garbage collector anything.
 *
 * A run keeps its place in the ring; once the ring has gone round, the run's calls are forgotten. A
 * clash of words makes a late tool end count as seen, no more.
 */
export class ClosedCalls {
  /** Two a call: the first word of its span id, and which occurrence of its id it was. */
  readonly #words: Int32Array;
  readonly #mask: number;
  #written = 0;

  /** @param least how many calls are remembered at least. */
  constructor(least: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(least, 16)));
    this.#words = new Int32Array(size * 2);
    this.#mask = size - 1;
  }

  /** Where the next run's calls begin: a 32-bit number that starts over. */
  get position(): number {
    return this.#written;
  }

  add<H>(call: Call<H>): void {
    const at = (this.#written & this.#mask) * 2;
    this.#words[at] = call.high;
    this.#words[at + 1] = call.occurrence;
    this.#written = (this.#written + 1) | 0;
  }

  /** How often the id came in the run with these ids, whose calls stand from `from` to `to`. */
  occurrences(ids: RunIds, id: string, from: number, to: number): number {
    const count = (to - from) >>> 0;
    const overwritten = ((this.#written - from) >>> 0) - this.#mask - 1;
    let most = 0;
    for (let n = Math.max(overwritten, 0); n < count; n++) {
      const at = ((from + n) & this.#mask) * 2;
      const occurrence = this.#words[at + 1] ?? 0;
      if (occurrence <= most) continue;
      if (this.#words[at] === ids.childWords("t", id, occurrence).h1) most = occurrence;
    }
    return most;
  }
}
