/** The most that is kept of one kind of thing before more is taken, in bytes: 64 MiB. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** A store that has taken nothing for so long, in ms, though it was given something, is stalled. */
const STALLED_MS = 10_000;

/**
 * What is under way to one store: how much, whether more should be made, and whether the store gets on with
 * it. Each store has a flow of its own: one that works must not hide another that does not.
 */
export class StoreFlow {
  /** Things under way. */
  count = 0;
  readonly #most: number;
  readonly #onEnd: () => void;
  #bytes = 0;
  /** Things that were stored, or refused for good. */
  #done = 0;
  /** {@link #done} at the last look. */
  #seen = 0;
  #workedMs: number;

  /**
   * @param most things that may be under way before no more should be made.
   * @param onEnd called when something was stored, or refused for good.
   * @param nowMs here and below, in ms since 1970.
   */
  constructor(most: number, onEnd: () => void, nowMs = Date.now()) {
    this.#most = most;
    this.#onEnd = onEnd;
    this.#workedMs = nowMs;
  }

  /** Whether nothing more should be made until something is stored. */
  get full(): boolean {
    return this.count >= this.#most || this.#bytes >= MOST_BYTES;
  }

  /** @param bytes that it takes, roughly. */
  begin(bytes: number): void {
    this.count++;
    this.#bytes += bytes;
  }

  /** @param bytes as it was begun. */
  end(bytes: number): void {
    this.count--;
    this.#done++;
    this.#bytes -= bytes;
    this.#onEnd();
  }

  /**
   * Notes progress. Call it with each line, and every second or so, before anything is begun: what begins
   * after a pause has all of its time.
   */
  look(nowMs: number): void {
    // Less than before: the machine's clock was put back.
    if (this.count > 0 && this.#done === this.#seen && nowMs >= this.#workedMs) return;
    this.#seen = this.#done;
    this.#workedMs = nowMs;
  }

  isStalled(nowMs: number): boolean {
    this.look(nowMs);
    return nowMs - this.#workedMs > STALLED_MS;
  }
}

/**
 * Roughly how many bytes of memory a value takes that came of JSON, for bounds on what is kept. What a
 * line says in few characters may take many: an empty object takes 20 times its text.
 */
export function roughBytes(value: unknown): number {
  if (typeof value === "string") return 24 + value.length;
  // Of the 10,000 digits that an integer may have.
  if (typeof value === "bigint") return 4_096;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 64;
  if (Array.isArray(value)) {
    for (const item of value) bytes += 8 + roughBytes(item);
    return bytes;
  }
  for (const [name, field] of Object.entries(value)) bytes += 24 + name.length + roughBytes(field);
  return bytes;
}

/** What was begun between two calls of {@link InFlightSet.settle}. */
export class Epoch {
  /** Of them, those that are not done. */
  pending = 0;
  #done: (() => void) | undefined;

  end(): void {
    this.pending--;
    if (this.pending === 0) this.#done?.();
  }

  /** Resolves when all are done. Nothing more may be begun in it. */
  done(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

/** What was begun and is not done: rows and spans under way, dead letters being written. */
export class InFlightSet {
  /** The epoch of what is begun now. */
  #epoch = new Epoch();
  #before: Promise<unknown> = Promise.resolve();

  begin(): Epoch {
    this.#epoch.pending++;
    return this.#epoch;
  }

  /** Resolves when all that was begun until now is done, whatever is begun meanwhile. */
  settle(): Promise<unknown> {
    const epoch = this.#epoch;
    this.#epoch = new Epoch();
    this.#before = Promise.all([this.#before, epoch.done()]);
    return this.#before;
  }
}
