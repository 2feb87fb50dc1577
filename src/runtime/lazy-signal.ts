import { setMaxListeners } from "node:events";

/** An abort signal that is made when somebody asks for it: most code never does. */
export class LazySignal {
  #controller: AbortController | undefined;
  #fired: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Everything that is done at once may listen; Node warns of a leak beyond ten.
      setMaxListeners(0, this.#controller.signal);
      if (this.#fired !== undefined) this.#controller.abort(this.#fired.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#fired ??= { reason };
    this.#controller?.abort(reason);
  }
}
