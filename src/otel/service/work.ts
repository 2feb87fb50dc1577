/** Things that were begun together, as far as waiting for them goes. */
export class Shift {
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

/** What was begun and is not done: rows and spans on their way, letters being written. */
export class Work {
  /** What is begun now belongs to it. */
  #shift = new Shift();
  #before: Promise<unknown> = Promise.resolve();

  begin(): Shift {
    this.#shift.pending++;
    return this.#shift;
  }

  /** Resolves when all that was begun until now is done, whatever is begun meanwhile. */
  settle(): Promise<unknown> {
    const shift = this.#shift;
    this.#shift = new Shift();
    this.#before = Promise.all([this.#before, shift.done()]);
    return this.#before;
  }
}
