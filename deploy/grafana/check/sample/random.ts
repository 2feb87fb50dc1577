/** The same numbers on every machine: 32 bits of state, a number from 0 to 1 each time. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True in `share` of the cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** One of the names, by their weights. */
  pick<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries: [string, number][] = Object.entries(weights);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const name in weights) {
      left -= weights[name];
      if (left < 0) return name;
    }
    throw new RangeError("expected at least one name with a weight above 0");
  }

  /** Around `typical`, now and then several times as long. */
  duration(typical: number): number {
    return typical * Math.exp(0.7 * (this.next() + this.next() + this.next() - 1.5) * 2);
  }
}
