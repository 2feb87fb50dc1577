import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The first and the longest wait between attempts, in ms. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** How long to wait after each failed attempt. */
export interface RetryPolicy {
  readonly delays: RetryDelays;
  /** Each wait is so many times the one before it. */
  readonly factor: number;
  /**
   * A wait is multiplied by a random number between these two: clients that failed together must not all
   * come back together.
   */
  readonly jitter: readonly [least: number, most: number];
}

/** As OpenTelemetry's exporters wait: from 1 s, half as long again, up to 5 s. */
export const EXPORTER_RETRY: RetryPolicy = {
  delays: { firstMs: 1_000, mostMs: 5_000 },
  factor: 1.5,
  jitter: [0.8, 1.2],
};

/** For whatever a service waits for as long as it takes: from 100 ms, doubled, up to 10 s. */
export const SERVICE_RETRY: RetryPolicy = {
  delays: { firstMs: 100, mostMs: 10_000 },
  factor: 2,
  jitter: [0.5, 1],
};

/** The waits of a policy, one after the other. */
export class Backoff {
  readonly #policy: RetryPolicy;
  #nextMs: number;

  /** @param policy default: {@link SERVICE_RETRY}. */
  constructor(policy: RetryPolicy = SERVICE_RETRY) {
    this.#policy = policy;
    this.#nextMs = policy.delays.firstMs;
  }

  /** How long to wait now, in ms. */
  next(): number {
    const { delays, factor, jitter } = this.#policy;
    const [least, most] = jitter;
    const wait = this.#nextMs;
    this.#nextMs = Math.min(wait * factor, delays.mostMs);
    return wait * (least + (most - least) * Math.random());
  }

  /** Waits that long; resolves early when it is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await sleep(this.next(), undefined, { signal }).catch(() => {});
  }

  /** An attempt succeeded: the next wait is the first one again. */
  reset(): void {
    this.#nextMs = this.#policy.delays.firstMs;
  }
}

/** Least time between two reports of trouble that lasts, in ms. */
export const QUIET_MS = 60_000;

export interface RetryOptions {
  /** Ends the attempts. */
  readonly closed: AbortSignal;
  /**
   * Called with the error of a failed attempt, at most once a minute: a store that is away fails again and
   * again.
   */
  readonly onTrouble: (error: unknown) => void;
  /** Whether another attempt can't help. Default: it always can. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
  /** Default: those of {@link SERVICE_RETRY}. */
  readonly delays?: RetryDelays | undefined;
}

/**
 * Repeats attempts until they succeed: a store that is away comes back, and nothing is given up meanwhile.
 */
export class Retry {
  readonly #options: RetryOptions;
  readonly #policy: RetryPolicy;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RetryOptions) {
    this.#options = options;
    const { closed, delays = SERVICE_RETRY.delays } = options;
    this.#policy = { ...SERVICE_RETRY, delays };
    // One for each that waits: as many as there are rows under way.
    setMaxListeners(0, closed);
  }

  /** @throws (rejects) with a final error, or after `closed`. */
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
