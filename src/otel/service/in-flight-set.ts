/** What was begun between two calls of {@link InFlightSet.settle}. */
export class Epoch {
  /** Of them, those that are not done. */
  pending = 0;
  #done: (() => void) | undefined;

  end(): void {
    this.pending--;
    if (this.pending === 0) this.#done?.();
  }

  /** Resolves when all are done. Nothing more may be begun in it. */
  done(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

/** What was begun and is not done: rows and spans under way, dead letters being written. */
export class InFlightSet {
  /** The epoch of what is begun now. */
  #epoch = new Epoch();
  #before: Promise<unknown> = Promise.resolve();

  begin(): Epoch {
    this.#epoch.pending++;
    return this.#epoch;
  }

  /** Resolves when all that was begun until now is done, whatever is begun meanwhile. */
  settle(): Promise<unknown> {
    const epoch = this.#epoch;
    this.#epoch = new Epoch();
    this.#before = Promise.all([this.#before, epoch.done()]);
    return this.#before;
  }
}
