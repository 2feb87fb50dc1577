/** The progress of some work, for a reader that may be slower. */
export class Progress {
  #share = 0;
  #isNew = false;
  #wake: () => void = () => {};

  /** @param share that is done, 0 to 1. */
  set(share: number): void {
    this.#share = share;
    this.#isNew = true;
    this.#wake();
  }

  /** The newest share after each change, until the work has ended. Its error is not thrown here. */
  async *until(work: Promise<unknown>): AsyncGenerator<number, void, undefined> {
    let isOver = false;
    const end = () => {
      isOver = true;
      this.#wake();
    };
    work.then(end, end);
    while (!isOver) {
      if (!this.#isNew) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.#isNew = false;
      yield this.#share;
    }
  }
}
