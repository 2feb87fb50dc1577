import type { Stream } from "./stream.ts";

/**
 * The streams that were heard of last: at least half of `most`, and never more.
 *
 * Two generations, of which the older is forgotten whole: a Map that loses its first entry over and
 * over gets slow. A stream in use moves to the younger one.
 */
export class StreamTable {
  readonly #half: number;
  #recent = new Map<string, Stream>();
  #older = new Map<string, Stream>();

  /** @param most at least 2. */
  constructor(most: number) {
    this.#half = Math.max(1, most >> 1);
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  /** @returns the stream, and those that were forgotten to make room for it: mostly none. */
  use(key: string, make: () => Stream): { stream: Stream; forgotten: readonly Stream[] } {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return { stream: recent, forgotten: NONE };
    const stream = this.#older.get(key) ?? make();
    this.#older.delete(key);
    let forgotten = NONE;
    if (this.#recent.size >= this.#half) {
      forgotten = [...this.#older.values()];
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, stream);
    return { stream, forgotten };
  }

  *[Symbol.iterator](): Generator<Stream> {
    yield* this.#older.values();
    yield* this.#recent.values();
  }
}

const NONE: readonly Stream[] = [];
