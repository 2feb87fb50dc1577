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
  #forgotten: Stream[] = [];

  /** @param most at least 2. */
  constructor(most: number) {
    this.#half = Math.max(1, most >> 1);
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  get(key: string): Stream | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older === undefined) return undefined;
    this.#older.delete(key);
    this.add(older);
    return older;
  }

  /** Adds a stream whose key is not there. */
  add(stream: Stream): void {
    if (this.#recent.size >= this.#half) {
      this.#forgotten.push(...this.#older.values());
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(stream.key, stream);
  }

  /** Streams that were forgotten to make room, since this was asked last: mostly none. */
  takeForgotten(): readonly Stream[] {
    if (this.#forgotten.length === 0) return NONE;
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    return forgotten;
  }

  *[Symbol.iterator](): Generator<Stream> {
    yield* this.#older.values();
    yield* this.#recent.values();
  }
}

const NONE: readonly Stream[] = [];
