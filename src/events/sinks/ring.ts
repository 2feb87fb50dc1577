const MAX_CAPACITY = 2 ** 24;

/**
 * @param name the option, for the message.
 * @returns `capacity`.
 * @throws RangeError when it is no whole number from 1 to 2^24.
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

  /** @param capacity as {@link checkedCapacity} lets it pass. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#length;
  }

  get full(): boolean {
    return this.#length === this.#capacity;
  }

  /** Adds the newest item. When full it first gives up the oldest one: ask `full` before. */
  push(item: T): void {
    if (this.full) this.shift();
    this.#slots[(this.#head + this.#length) % this.#capacity] = item;
    this.#length += 1;
  }

  /** Takes the oldest item, or `undefined` when there is none. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#slots[this.#head];
    // A slot left filled would keep a whole agent state alive.
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
