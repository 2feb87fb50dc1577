/** Limit of the items of one kind in bytes: 64 MiB. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** Time without progress in ms after which a store with pending items is stalled. */
const STALLED_MS = 10_000;

/**
 * Counts the items on their way to one store. It shows whether more should be made, and whether the store is
 * stalled. Each store has its own, so that a working store does not hide a stalled one.
 */
export class StoreFlow {
  /** Items in flight. */
  count = 0;
  readonly #most: number;
  readonly #onEnd: () => void;
  #bytes = 0;
  /** Items that were stored or permanently rejected. */
  #done = 0;
  /** {@link #done} at the last check. */
  #seen = 0;
  #workedMs: number;

  /**
   * @param most limit of items in flight.
   * @param onEnd called when an item was stored or permanently rejected.
   * @param nowMs in ms since 1970, also in the methods below.
   */
  constructor(most: number, onEnd: () => void, nowMs = Date.now()) {
    this.#most = most;
    this.#onEnd = onEnd;
    this.#workedMs = nowMs;
  }

  /** Whether the limit is reached, so that no more should be made. */
  get full(): boolean {
    return this.count >= this.#most || this.#bytes >= MOST_BYTES;
  }

  /** @param bytes approximate size. */
  begin(bytes: number): void {
    this.count++;
    this.#bytes += bytes;
  }

  /** @param bytes the same as in {@link begin}. */
  end(bytes: number): void {
    this.count--;
    this.#done++;
    this.#bytes -= bytes;
    this.#onEnd();
  }

  /**
   * Records progress. Call it for each line and about every second, before {@link begin}, so that items after a
   * pause have the full time.
   */
  look(nowMs: number): void {
    // Negative if the machine's clock was set back.
    if (this.count > 0 && this.#done === this.#seen && nowMs >= this.#workedMs) return;
    this.#seen = this.#done;
    this.#workedMs = nowMs;
  }

  isStalled(nowMs: number): boolean {
    this.look(nowMs);
    return nowMs - this.#workedMs > STALLED_MS;
  }
}

/** The items that began between two calls of {@link InFlightSet.settle}. */
export class Epoch {
  /** Number of its items in flight. */
  pending = 0;
  #done: (() => void) | undefined;

  end(): void {
    this.pending--;
    if (this.pending === 0) this.#done?.();
  }

  /** Resolves when all are done. No item may begin in it afterwards. */
  done(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

/** Items in flight: rows, spans and dead letters. */
export class InFlightSet {
  /** The current epoch. */
  #epoch = new Epoch();
  #before: Promise<unknown> = Promise.resolve();

  begin(): Epoch {
    this.#epoch.pending++;
    return this.#epoch;
  }

  /** Resolves when all items that began before the call are done. */
  settle(): Promise<unknown> {
    const epoch = this.#epoch;
    this.#epoch = new Epoch();
    this.#before = Promise.all([this.#before, epoch.done()]);
    return this.#before;
  }
}
