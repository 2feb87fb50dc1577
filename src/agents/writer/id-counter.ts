import { v7 as uuidv7 } from "uuid";

/** Characters of a UUID before its last 32 bits. */
const PREFIX_LENGTH = 28;

/**
 * IDs for the events and calls of one run. Each is a UUID v7 whose last 32 bits are a counter. The other bits are
 * drawn once, because drawing them for each event would cost more than all other work for it.
 */
export class IdCounter {
  readonly #prefix = uuidv7().slice(0, PREFIX_LENGTH);
  #next = 0;

  next(): string {
    const count = this.#next;
    this.#next = (count + 1) % 2 ** 32;
    return this.#prefix + count.toString(16).padStart(8, "0");
  }
}
