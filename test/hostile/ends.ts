/** What is to be done when something is over, however it ends: the last one first. */
export class Ends implements AsyncDisposable {
  readonly #ends: (() => unknown)[] = [];

  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
