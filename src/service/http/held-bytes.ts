/** Memory that bodies take while they wait, in bytes: one bound for all connections. */
export class HeldBytes {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  /** @returns whether there was room: where there was none, nothing is taken. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#most) return false;
    this.#used += bytes;
    return true;
  }

  /** What was taken is free again. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}
