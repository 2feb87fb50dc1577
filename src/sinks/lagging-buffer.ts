import { PendingReads } from "./pending-reads.ts";
import type { ReceiverSource } from "./receiver.ts";
import { Ring } from "./ring.ts";

/** Told to a reader in the place of items that it was too slow to read. */
export interface Lagged {
  /** How many items were lost just before the next one. */
  readonly lagged: number;
}

/** A queue to a reader in which the oldest item makes room for the newest, and is counted. */
export class LaggingBuffer<T extends object> implements ReceiverSource<T | Lagged> {
  readonly #buffer: Ring<T>;
  readonly #reads = new PendingReads<T | Lagged>();
  readonly #onClose: (buffer: LaggingBuffer<T>) => void;
  #lagged = 0;
  #open = true;

  /** @param onClose called when the reader closes it. */
  constructor(capacity: number, onClose: (buffer: LaggingBuffer<T>) => void) {
    this.#buffer = new Ring(capacity);
    this.#onClose = onClose;
  }

  push(item: T): void {
    if (this.#reads.give(item)) return;
    if (this.#buffer.full) this.#lagged += 1;
    this.#buffer.push(item);
  }

  receive(): Promise<IteratorResult<T | Lagged, undefined>> {
    const lagged = this.#lagged;
    if (lagged > 0) {
      this.#lagged = 0;
      return Promise.resolve({ value: { lagged }, done: false });
    }
    const value = this.#buffer.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    return this.#open ? this.#reads.wait() : Promise.resolve({ value, done: true });
  }

  /** Ends it from the sending side: what is held can still be read. */
  finish(): void {
    this.#open = false;
    this.#reads.end();
  }

  close(): void {
    this.discard();
  }

  discard(): void {
    this.finish();
    this.#lagged = 0;
    this.#buffer.clear();
    this.#onClose(this);
  }
}
