import { join } from "node:path";
import { numbersOf } from "../../audit/door.ts";

/** One file of the journal. */
export interface Segment {
  /** Offset of its first line, which is also its name. */
  readonly first: number;
  readonly path: string;
  /** Number of its bytes on the disk that may be read. */
  size: number;
  /** Offset after its last line: the first of the next segment. */
  end: number;
}

/** The format's version is in the name, so files of other versions are never read. */
const ENDING = ".v1.log";

export function segmentName(first: number): string {
  return `lines-${String(first).padStart(16, "0")}${ENDING}`;
}

export function segmentPath(directory: string, first: number): string {
  return join(directory, segmentName(first));
}

/**
 * First offsets of the segments among some file names, ascending.
 *
 * @throws Error if one has another version.
 */
export function segmentsAmong(directory: string, names: readonly string[]): number[] {
  for (const name of names) {
    if (!/^lines-\d{16}\.v\d+\.log$/.test(name) || name.endsWith(ENDING)) continue;
    throw new Error(`${join(directory, name)}: expected a file ending in ${ENDING}`);
  }
  return numbersOf(names, segmentName);
}

/** Path of the new file that will replace a segment. */
export function draftPath(segment: string): string {
  return `${segment}.tmp`;
}

/** Drafts among some file names. A crash may leave some. */
export function draftsAmong(directory: string, names: readonly string[]): readonly string[] {
  const drafts = names.filter((name) => /^lines-\d{16}\.v\d+\.log\.tmp$/.test(name));
  return drafts.map((name) => join(directory, name));
}

/** The segments, ascending. The last one is being written. */
export class SegmentList {
  readonly #segments: Segment[];

  constructor(sealed: readonly Segment[], active: Segment) {
    this.#segments = [...sealed, active];
  }

  /** Offset of the first line. */
  get first(): number {
    return this.#segments[0]?.first ?? 0;
  }

  /** Offset after the last line on the disk. */
  get next(): number {
    return this.#segments.at(-1)?.end ?? 0;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  /** Seals the segment that was written, and adds the next one. */
  add(segment: Segment): void {
    // An empty segment is replaced by one of the same name.
    if (this.#segments.at(-1)?.first === segment.first) this.#segments.pop();
    this.#segments.push(segment);
  }

  /** The segment with the line of an offset, or the next one. */
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
