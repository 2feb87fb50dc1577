import type { Call } from "./call.ts";

/**
 * Which call ids the closed runs had, as hashes in one ring of numbers: the newest overwrite the
 * oldest, and nothing here costs the garbage collector anything.
 *
 * A run keeps its place in the ring; once the ring has gone round, the run's calls are forgotten. A
 * clash of hashes makes a late tool end count as seen, no more.
 */
export class ClosedCalls {
  /** Two words a call: the hash of its id, and which occurrence of its id it was. */
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
    this.#words[at] = hashOf(call.id);
    this.#words[at + 1] = call.occurrence;
    this.#written = (this.#written + 1) | 0;
  }

  /** How often the id came in the run whose calls stand from `from` to `to`. */
  occurrences(id: string, from: number, to: number): number {
    const hash = hashOf(id);
    const count = (to - from) >>> 0;
    const overwritten = ((this.#written - from) >>> 0) - this.#mask - 1;
    let most = 0;
    for (let n = Math.max(overwritten, 0); n < count; n++) {
      const at = ((from + n) & this.#mask) * 2;
      if (this.#words[at] === hash) most = Math.max(most, this.#words[at + 1] ?? 0);
    }
    return most;
  }
}

/** What differs between ids stands at their end. */
const LAST_UNITS = 24;

/**
 * A hash over the length and the last UTF-16 units, four at a time: each step waits for the one
 * before, and a run's calls are hashed at its end, when somebody waits.
 */
function hashOf(id: string): number {
  const { length } = id;
  let hash = 0x811c9dc5 ^ length;
  let at = Math.max(length - LAST_UNITS, 0);
  for (; at + 4 <= length; at += 4) {
    const units =
      id.charCodeAt(at) ^
      (id.charCodeAt(at + 1) << 8) ^
      (id.charCodeAt(at + 2) << 16) ^
      (id.charCodeAt(at + 3) << 24);
    hash = Math.imul(hash ^ units, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash | 0;
}
