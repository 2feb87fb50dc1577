import type { Call } from "./call.ts";

/**
 * Which call ids the closed runs had, as hashes in one ring of numbers: the newest overwrite the
 * oldest, and nothing here costs the garbage collector anything.
 *
 * A run keeps its place in the ring; once the ring has gone round, the run's calls are forgotten. A
 * clash of hashes makes a late tool end count as seen, no more.
 */
export class ClosedCalls {
  readonly #hashes: Int32Array;
  readonly #occurrences: Int32Array;
  readonly #mask: number;
  #written = 0;

  /** @param least how many calls are remembered at least. */
  constructor(least: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(least, 16)));
    this.#hashes = new Int32Array(size);
    this.#occurrences = new Int32Array(size);
    this.#mask = size - 1;
  }

  /** Where the next run's calls begin. */
  get position(): number {
    return this.#written;
  }

  add<H>(call: Call<H>): void {
    // The bits below the mask are right for any count up to 2^53.
    const at = this.#written & this.#mask;
    this.#hashes[at] = hashOf(call.id);
    this.#occurrences[at] = call.occurrence;
    this.#written++;
  }

  /** How often the id came in the run whose calls stand from `from` to `to`. */
  occurrences(id: string, from: number, to: number): number {
    const hash = hashOf(id);
    let most = 0;
    for (let n = Math.max(from, this.#written - this.#mask - 1); n < to; n++) {
      const at = n & this.#mask;
      if (this.#hashes[at] === hash) most = Math.max(most, this.#occurrences[at] ?? 0);
    }
    return most;
  }
}

/** What differs between ids stands at their end. */
const LAST_UNITS = 24;

/** FNV-1a over the length and the last UTF-16 units. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5 ^ id.length;
  for (let at = Math.max(id.length - LAST_UNITS, 0); at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  return hash | 0;
}
