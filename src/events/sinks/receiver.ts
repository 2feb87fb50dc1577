import { Ring } from "./ring.ts";

/**
 * The reading end of a `ChannelSink` or a `BroadcastSink`: an async iterator.
 *
 * Leaving a `for await` loop over it, by `break` or by an error, closes it and drops the buffered items.
 */
export class Receiver<T> implements AsyncIterator<T, undefined>, AsyncIterable<T> {
  readonly #queue: ReceiverQueue<object, T>;

  /** @internal */
  constructor(queue: ReceiverQueue<object, T>) {
    this.#queue = queue;
  }

  /** The next item, in order. Waits for one. Ends when it is closed and empty. */
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
 * The queue of a {@link Receiver}: either items wait for a read, or reads wait for an item.
 *
 * @typeParam T type of the buffered items.
 * @typeParam R type of the items that are read.
 */
export abstract class ReceiverQueue<T extends object, R> {
  protected readonly buffer: Ring<T>;
  /** Calls of `next()` that wait for an item, oldest first. */
  readonly #reads: ((result: IteratorResult<R, undefined>) => void)[] = [];
  #open = true;

  constructor(capacity: number) {
    this.buffer = new Ring(capacity);
  }

  protected get isOpen(): boolean {
    return this.#open;
  }

  /** Removes the next item to read from the buffer. `undefined` if there is none. */
  protected abstract take(): R | undefined;

  /** Passes an item to the oldest waiting read. `false` if none waits. */
  protected give(value: R): boolean {
    const read = this.#reads.shift();
    read?.({ value, done: false });
    return read !== undefined;
  }

  /** The next item. Waits for one, or ends if no more can come. */
  receive(): Promise<IteratorResult<R, undefined>> {
    const value = this.take();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (!this.#open) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#reads.push(resolve);
    });
  }

  /** Ends the queue from the sending side. Buffered items can still be read. */
  finish(): void {
    this.#open = false;
    for (const read of this.#reads.splice(0)) read({ value: undefined, done: true });
  }

  /** Ends the queue from the reading side. It accepts no more items. */
  close(): void {
    this.finish();
  }

  /** Ends the queue from the reading side, and drops its items. */
  discard(): void {
    this.close();
    this.buffer.clear();
  }
}
