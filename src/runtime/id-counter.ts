import { v7 as uuidv7 } from "uuid";

/** Characters of a UUID before its last 32 bits. */
const PREFIX_LENGTH = 28;

/**
 * New ids for the events and calls of one run, each a UUID v7: the last 32 bits count, all others are
 * drawn once. Drawing each anew would cost more than everything else that is done for an event.
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
