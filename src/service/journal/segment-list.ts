import { join } from "node:path";
import { numbersOf } from "../../audit/door.ts";

/** One file of the journal. */
export interface Segment {
  /** Offset of its first line; its name. */
  readonly first: number;
  readonly path: string;
  /** Bytes of it that are on the disk and may be read. */
  size: number;
  /** Offset behind its last line: the first of the next segment. */
  end: number;
}

/** The version of the format stands in the name: a file of another one is never taken for ours. */
const ENDING = ".v1.log";

export function segmentName(first: number): string {
  return `lines-${String(first).padStart(16, "0")}${ENDING}`;
}

export function segmentPath(directory: string, first: number): string {
  return join(directory, segmentName(first));
}

/**
 * First offsets of the segments among some names, ascending.
 *
 * @throws Error when one was written by another version of the format.
 */
export function segmentsAmong(directory: string, names: readonly string[]): number[] {
  for (const name of names) {
    if (!/^lines-\d{16}\.v\d+\.log$/.test(name) || name.endsWith(ENDING)) continue;
    throw new Error(`${join(directory, name)}: expected a file ending in ${ENDING}`);
  }
  return numbersOf(names, segmentName);
}

/** Where a segment is made anew, before it takes the place of the one that is there. */
export function draftPath(segment: string): string {
  return `${segment}.tmp`;
}

/** Drafts among some names: what a crash has left of them. */
export function draftsAmong(directory: string, names: readonly string[]): readonly string[] {
  const drafts = names.filter((name) => /^lines-\d{16}\.v\d+\.log\.tmp$/.test(name));
  return drafts.map((name) => join(directory, name));
}

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
