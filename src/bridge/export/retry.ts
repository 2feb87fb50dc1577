import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The first and the longest wait between attempts, in ms. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The waits after failed attempts. */
export interface RetryPolicy {
  readonly delays: RetryDelays;
  /** Factor between a wait and the next. */
  readonly factor: number;
  /**
   * Range of the random factor of each wait, so that clients that failed together do not retry together.
   */
  readonly jitter: readonly [least: number, most: number];
}

/** The waits of OpenTelemetry's exporters: from 1 s, by 1.5, up to 5 s. */
export const EXPORTER_RETRY: RetryPolicy = {
  delays: { firstMs: 1_000, mostMs: 5_000 },
  factor: 1.5,
  jitter: [0.8, 1.2],
};

/** For a service that retries without a limit: from 100 ms, doubled, up to 10 s. */
export const SERVICE_RETRY: RetryPolicy = {
  delays: { firstMs: 100, mostMs: 10_000 },
  factor: 2,
  jitter: [0.5, 1],
};

/** Computes the waits of a retry policy. */
export class Backoff {
  readonly #policy: RetryPolicy;
  #nextMs: number;

  /** @param policy default: {@link SERVICE_RETRY}. */
  constructor(policy: RetryPolicy = SERVICE_RETRY) {
    this.#policy = policy;
    this.#nextMs = policy.delays.firstMs;
  }

  /** The next wait in ms. */
  next(): number {
    const { delays, factor, jitter } = this.#policy;
    const [least, most] = jitter;
    const wait = this.#nextMs;
    this.#nextMs = Math.min(wait * factor, delays.mostMs);
    return wait * (least + (most - least) * Math.random());
  }

  /** Waits. Resolves early if it is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await sleep(this.next(), undefined, { signal }).catch(() => {});
  }

  /** Starts again with the first wait, after a success. */
  reset(): void {
    this.#nextMs = this.#policy.delays.firstMs;
  }
}

/** Minimum interval between two reports of a lasting failure, in ms. */
export const QUIET_MS = 60_000;

export interface RetryOptions {
  /** Ends the attempts. */
  readonly closed: AbortSignal;
  /**
   * Called with the error of a failed attempt, at most once a minute.
   */
  readonly onTrouble: (error: unknown) => void;
  /** Whether an error is permanent. Default: none is. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
  /** Default: {@link SERVICE_RETRY}. */
  readonly delays?: RetryDelays | undefined;
}

/**
 * Retries until success, for stores whose outages are temporary.
 */
export class Retry {
  readonly #options: RetryOptions;
  readonly #policy: RetryPolicy;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RetryOptions) {
    this.#options = options;
    const { closed, delays = SERVICE_RETRY.delays } = options;
    this.#policy = { ...SERVICE_RETRY, delays };
    // Each waiting attempt has a listener: as many as there are rows in flight.
    setMaxListeners(0, closed);
  }

  /** @throws (rejects) with a permanent error, or after `closed`. */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    const { closed, isFinal } = this.#options;
    const backoff = new Backoff(this.#policy);
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
