/** Whether a value is a promise, of this realm or another, or any thenable. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** A promise that is settled from outside. (`Promise.withResolvers` needs Node 22.) */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T | PromiseLike<T>) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T | PromiseLike<T>): void {
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}
