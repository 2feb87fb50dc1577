import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Backoff, type RetryDelays } from "./backoff.ts";

/** Told of the same trouble no more often than this, in ms. */
const QUIET_MS = 60_000;

export interface PatienceOptions {
  /** Ends the attempts. */
  readonly closed: AbortSignal;
  /** Told of a failed attempt, at most once a minute: a store that is away fails again and again. */
  readonly onTrouble: (error: unknown) => void;
  /** Whether trying again is of no use. Default: it never is. */
  readonly isFinal?: (error: unknown) => boolean;
  readonly delays?: RetryDelays | undefined;
}

/** Tries again until it works: a store that is away comes back, and nothing is given up meanwhile. */
export class Patience {
  readonly #options: PatienceOptions;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(options: PatienceOptions) {
    this.#options = options;
    // One for each that waits: as many as there are rows on their way.
    setMaxListeners(0, options.closed);
  }

  /** @throws (rejects) with a final error, or where it is closed. */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    const { closed, delays, isFinal } = this.#options;
    const backoff = new Backoff(delays);
    for (;;) {
      closed.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (closed.aborted || isFinal?.(error)) throw error;
        this.#report(error);
        await sleep(backoff.next(), undefined, { signal: closed });
      }
    }
  }

  #report(error: unknown): void {
    const now = performance.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + QUIET_MS;
    this.#options.onTrouble(error);
  }
}
