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
