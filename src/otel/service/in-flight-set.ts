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

/** The most that is kept of one kind of thing before more is taken, in bytes: 64 MiB. */
export const MOST_BYTES = 64 * 1024 * 1024;

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
