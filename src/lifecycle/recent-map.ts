/**
 * A map that keeps at least the `least` entries set last, and at most twice as many.
 *
 * Two generations, of which the older is dropped whole: a Map that loses its first entry over and
 * over gets slow, since iteration walks over the holes.
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

  /** @returns how many entries were forgotten for this one: mostly 0. */
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

  /** Drops the older generation, and begins a new one. */
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
