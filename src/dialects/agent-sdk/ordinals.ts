/** The numbers of a stream's lines, from 0. */
export class Ordinals {
  #next = 0;

  next(): number {
    const ordinal = this.#next;
    this.#next += 1;
    return ordinal;
  }
}
