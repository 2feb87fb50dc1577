import { Ring } from "./ring.ts";

/**
 * The reading end of a `ChannelSink` or a `BroadcastSink`: an async iterator.
 *
 * Leaving a `for await` loop over it, by `break` or by an error, closes it and drops the buffered
 * items.
 */
export class Receiver<T> implements AsyncIterator<T, undefined>, AsyncIterable<T> {
  readonly #queue: ReceiverQueue<object, T>;

  /** @internal */
  constructor(queue: ReceiverQueue<object, T>) {
    this.#queue = queue;
  }

  /** The next item, in order. Waits while there is none. Done when it is closed and empty. */
  next(): Promise<IteratorResult<T, undefined>> {
    return this.#queue.receive();
  }

  /** Closes the receiver and drops the buffered items. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.#queue.discard();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Accepts no further items. The sink documents what happens to buffered items. */
  close(): void {
    this.#queue.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * A queue to a {@link Receiver}: either items wait for a read, or reads wait for an item.
 *
 * @typeParam T what is held.
 * @typeParam R what is read, where that may be more.
 */
export abstract class ReceiverQueue<T extends object, R> {
  protected readonly buffer: Ring<T>;
  /** The calls of `next()` that wait for an item, oldest first. */
  readonly #reads: ((result: IteratorResult<R, undefined>) => void)[] = [];
  #open = true;

  constructor(capacity: number) {
    this.buffer = new Ring(capacity);
  }

  protected get isOpen(): boolean {
    return this.#open;
  }

  /** Takes what is to be read next out of the buffer; `undefined` when there is nothing. */
  protected abstract take(): R | undefined;

  /** Hands an item to the oldest read that waits; `false` when none waits. */
  protected give(value: R): boolean {
    const read = this.#reads.shift();
    read?.({ value, done: false });
    return read !== undefined;
  }

  /** The next item, waiting for one if need be; done once nothing more can come. */
  receive(): Promise<IteratorResult<R, undefined>> {
    const value = this.take();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (!this.#open) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#reads.push(resolve);
    });
  }

  /** Ends it from the sending side: what is held can still be read. */
  finish(): void {
    this.#open = false;
    for (const read of this.#reads.splice(0)) read({ value: undefined, done: true });
  }

  /** Ends it from the reading side: it takes in no more items. */
  close(): void {
    this.finish();
  }

  /** Ends it from the reading side, and forgets what it holds. */
  discard(): void {
    this.close();
    this.buffer.clear();
  }
}
