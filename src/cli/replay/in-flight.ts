/** Rows that may be on their way to the audit log at once. */
const MOST = 512;

/**
 * Promises that are waited for together: one flush of the audit log serves many rows, so that
 * waiting for each would cost hundreds of flushes.
 */
export class InFlight {
  #pending: Promise<void>[] = [];

  /** Adds a promise. That it rejects is somebody else's to tell. */
  add(promise: Promise<void>): void {
    this.#pending.push(promise.catch(() => {}));
  }

  get full(): boolean {
    return this.#pending.length >= MOST;
  }

  /** Resolves when all that were added so far are settled. */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(pending);
  }
}
