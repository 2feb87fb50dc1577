/** Offsets of what is under way to be stored; they are added in ascending order, some more than once. */
export class PendingOffsets {
  readonly #counts = new Map<number, number>();

  get size(): number {
    return this.#counts.size;
  }

  /** The lowest one. */
  get first(): number | undefined {
    for (const offset of this.#counts.keys()) return offset;
    return undefined;
  }

  add(offset: number): void {
    this.#counts.set(offset, (this.#counts.get(offset) ?? 0) + 1);
  }

  delete(offset: number): void {
    const count = this.#counts.get(offset);
    if (count === undefined) return;
    if (count > 1) this.#counts.set(offset, count - 1);
    else this.#counts.delete(offset);
  }
}
