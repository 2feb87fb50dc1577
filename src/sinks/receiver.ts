/** Where a {@link Receiver} takes its items from. */
export interface ReceiverSource<T> {
  /** The next item, waiting for one if need be; done once nothing more can come. */
  receive(): Promise<IteratorResult<T, undefined>>;
  /** Takes in no more items. */
  close(): void;
  /** Takes in no more items and forgets those it holds. */
  discard(): void;
}

/**
 * The reading end of a `ChannelSink` or a `BroadcastSink`: an async iterator.
 *
 * Leaving a `for await` over it, by `break` or by an error, closes it and drops what it still holds.
 */
export class Receiver<T> implements AsyncIterator<T, undefined>, AsyncIterable<T> {
  readonly #source: ReceiverSource<T>;

  constructor(source: ReceiverSource<T>) {
    this.#source = source;
  }

  /** The next item, in order; waits while there is none. Done once closed and read to the end. */
  next(): Promise<IteratorResult<T, undefined>> {
    return this.#source.receive();
  }

  /** Closes, and drops what is still held. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.#source.discard();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Takes in no more; see the sink for what becomes of the items it still holds. */
  close(): void {
    this.#source.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The calls of an async iterator's `next()` that wait for a value, oldest first. */
export class PendingReads<T> {
  readonly #reads: ((result: IteratorResult<T, undefined>) => void)[] = [];

  /** Hands a value to the oldest waiting call; `false` when none waits. */
  give(value: T): boolean {
    const read = this.#reads.shift();
    read?.({ value, done: false });
    return read !== undefined;
  }

  /** Makes a call wait. */
  wait(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve) => {
      this.#reads.push(resolve);
    });
  }

  /** Tells every waiting call that nothing more comes. */
  end(): void {
    for (const read of this.#reads.splice(0)) read({ value: undefined, done: true });
  }
}
