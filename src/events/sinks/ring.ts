const MAX_CAPACITY = 2 ** 24;

/**
 * @param name name of the option, for the error.
 * @returns `capacity`.
 * @throws RangeError if it is not a whole number from 1 to 2^24.
 */
export function checkedCapacity(capacity: number, name: string): number {
  if (!Number.isSafeInteger(capacity) || capacity < 1 || capacity > MAX_CAPACITY) {
    throw new RangeError(
      `${name}: expected a whole number from 1 to ${MAX_CAPACITY}, got ${capacity}`,
    );
  }
  return capacity;
}

/** A first-in, first-out buffer of at most `capacity` items. */
export class Ring<T extends object> {
  readonly #capacity: number;
  #slots: (T | undefined)[] = [];
  #head = 0;
  #length = 0;

  /** @param capacity from {@link checkedCapacity}. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#length;
  }

  get full(): boolean {
    return this.#length === this.#capacity;
  }

  /** Adds the newest item. A full buffer drops its oldest item first: check `full` before. */
  push(item: T): void {
    if (this.full) this.shift();
    this.#slots[(this.#head + this.#length) % this.#capacity] = item;
    this.#length += 1;
  }

  /** Removes the oldest item and returns it. `undefined` if there is none. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#slots[this.#head];
    // The slot would keep the item in memory, which may hold an agent's state.
    this.#slots[this.#head] = undefined;
    this.#length -= 1;
    this.#head = this.#length === 0 ? 0 : (this.#head + 1) % this.#capacity;
    return item;
  }

  clear(): void {
    this.#slots = [];
    this.#head = 0;
    this.#length = 0;
  }
}
