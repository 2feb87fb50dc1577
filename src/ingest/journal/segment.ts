import { join } from "node:path";
import { numbersOf } from "../../storage/numbered-names.ts";

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
