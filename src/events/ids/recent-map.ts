/**
 * A map of the entries that were set last: at least `least`, and at most twice as many.
 *
 * It has two generations, and drops the older one completely. Removing the first entry of a Map again and again would
 * get slow, because iteration passes the holes.
 */
export class RecentMap<V> {
  readonly #least: number;
  #recent = new Map<string, V>();
  #older = new Map<string, V>();

  constructor(least: number) {
    this.#least = least;
  }

  get(key: string): V | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /** @returns the number of entries that were dropped for this one, mostly 0. */
  set(key: string, value: V): number {
    let forgotten = 0;
    if (this.#recent.size >= this.#least && !this.#recent.has(key)) {
      forgotten = this.#older.size;
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
    return forgotten;
  }

  /** Drops the older generation and starts a new one. */
  nextGeneration(): void {
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  delete(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }

  get isEmpty(): boolean {
    return this.#recent.size === 0 && this.#older.size === 0;
  }
}

/**
 * Values by two names, such as a tenant's and a thread's: at least the `least` that were read or set last, and at
 * most twice as many. The names are not joined, because making a key for every line takes longer than the look-up.
 */
export class RecentPairs<V> {
  /** Number of values that were dropped for later ones. */
  forgotten = 0;
  readonly #least: number;
  #recent = new Pairs<V>();
  #older = new Pairs<V>();

  constructor(least: number) {
    this.#least = least;
  }

  get(first: string, second: string): V | undefined {
    const value = this.#recent.get(first, second);
    if (value !== undefined) return value;
    const old = this.#older.take(first, second);
    if (old !== undefined) this.set(first, second, old);
    return old;
  }

  /** All values, in the order in which they would be dropped. */
  *[Symbol.iterator](): Generator<V> {
    yield* this.#older;
    yield* this.#recent;
  }

  set(first: string, second: string, value: V): void {
    if (this.#recent.size >= this.#least && this.#recent.get(first, second) === undefined) {
      this.forgotten += this.#older.size;
      this.#older = this.#recent;
      this.#recent = new Pairs();
    }
    // Moves the value to the recent generation, so that it is not dropped with the older one.
    this.#older.take(first, second);
    this.#recent.set(first, second, value);
  }
}

class Pairs<V> {
  size = 0;
  readonly #byFirst = new Map<string, Map<string, V>>();

  get(first: string, second: string): V | undefined {
    return this.#byFirst.get(first)?.get(second);
  }

  *[Symbol.iterator](): Generator<V> {
    for (const inner of this.#byFirst.values()) yield* inner.values();
  }

  set(first: string, second: string, value: V): void {
    let inner = this.#byFirst.get(first);
    if (inner === undefined) {
      inner = new Map();
      this.#byFirst.set(first, inner);
    }
    const before = inner.size;
    inner.set(second, value);
    this.size += inner.size - before;
  }

  /** Removes a value and returns it. */
  take(first: string, second: string): V | undefined {
    if (this.size === 0) return undefined;
    const inner = this.#byFirst.get(first);
    const value = inner?.get(second);
    if (inner === undefined || value === undefined) return undefined;
    inner.delete(second);
    if (inner.size === 0) this.#byFirst.delete(first);
    this.size -= 1;
    return value;
  }
}
