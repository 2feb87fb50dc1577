import { endBy } from "./end-by.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * SIGINT and SIGTERM of a service. While it starts, the first one ends the process at once, whatever the start
 * waits for: nothing is acknowledged yet, and what is on the disk is read again by the next start. Once it has
 * started, the first one asks it to end, and the second one ends it at once.
 */
export class StopSignals {
  #ask: (() => void) | undefined;
  readonly #onSignal = (signal: (typeof SIGNALS)[number]) => {
    const ask = this.#ask;
    this.#ask = undefined;
    if (ask === undefined) endBy(signal);
    else ask();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** To be called once, when the service has started. Resolves when it is asked to end. */
  started(): Promise<void> {
    return new Promise((resolve) => {
      this.#ask = resolve;
    });
  }

  /** Signals do again what they always do. */
  release(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
