/** A promise that is resolved from outside. (`Promise.withResolvers` needs Node 22.) */
export class Promised<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T | PromiseLike<T>) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  resolve(value: T | PromiseLike<T>): void {
    this.#resolve(value);
  }
}
