/** Ctrl-C, or being asked to end: the command puts things in order first, then ends. */
export class Interruption {
  readonly #controller = new AbortController();
  #signal: "SIGINT" | "SIGTERM" | undefined;
  readonly #onInt = () => this.#take("SIGINT");
  readonly #onTerm = () => this.#take("SIGTERM");

  /** From here on the first signal does not end the process; the second one does. */
  constructor() {
    process.once("SIGINT", this.#onInt);
    process.once("SIGTERM", this.#onTerm);
  }

  /** Aborted when a signal came. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the process is to end with; `undefined` when no signal came. */
  get exitCode(): number | undefined {
    if (this.#signal === undefined) return undefined;
    return this.#signal === "SIGINT" ? 130 : 143;
  }

  /** Signals do again what they always do. */
  release(): void {
    process.off("SIGINT", this.#onInt);
    process.off("SIGTERM", this.#onTerm);
  }

  #take(signal: "SIGINT" | "SIGTERM"): void {
    this.#signal = signal;
    this.release();
    this.#controller.abort();
  }
}
