import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait between attempts, in ms: doubled each time, from the first to the most. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly mostMs: number;
}

export const RETRY_DELAYS: RetryDelays = { firstMs: 100, mostMs: 10_000 };

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
  readonly #delays: RetryDelays;
  #quietUntil = 0;

  constructor(options: PatienceOptions) {
    this.#options = options;
    // One for each that waits: as many as there are rows on their way.
    setMaxListeners(0, options.closed);
    this.#delays = options.delays ?? RETRY_DELAYS;
  }

  /** @throws (rejects) with a final error, or where it is closed. */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    const { closed, isFinal } = this.#options;
    const { firstMs, mostMs } = this.#delays;
    for (let wait = firstMs; ; wait = Math.min(wait * 2, mostMs)) {
      closed.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (closed.aborted || isFinal?.(error)) throw error;
        this.#report(error);
        // Those that failed together must not all come back together.
        await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal: closed });
      }
    }
  }

  #report(error: unknown): void {
    const now = Date.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + QUIET_MS;
    this.#options.onTrouble(error);
  }
}
