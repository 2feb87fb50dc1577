import type { Segment } from "./segment.ts";

/** The segments that are there, ascending; the last is the one being written. */
export class SegmentList {
  readonly #segments: Segment[];

  constructor(sealed: readonly Segment[], active: Segment) {
    this.#segments = [...sealed, active];
  }

  /** Offset of the first line. */
  get first(): number {
    return this.#segments[0]?.first ?? 0;
  }

  /** Offset behind the last line that is on the disk. */
  get next(): number {
    return this.#segments.at(-1)?.end ?? 0;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  /** The segment being written is done with, and this is the next. */
  add(segment: Segment): void {
    // One that holds nothing is written anew, under its name.
    if (this.#segments.at(-1)?.first === segment.first) this.#segments.pop();
    this.#segments.push(segment);
  }

  /** The segment that holds the line of an offset, or the one behind it where none does. */
  at(offset: number): Segment | undefined {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#segments[middle]?.end ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return this.#segments[low];
  }

  /** The oldest segment, if all its lines are below the offset and it is not being written. */
  wholeBelow(offset: number): Segment | undefined {
    const oldest = this.#segments[0];
    return this.#segments.length > 1 && (oldest?.end ?? 0) <= offset ? oldest : undefined;
  }

  dropOldest(): void {
    if (this.#segments.length > 1) this.#segments.shift();
  }
}
