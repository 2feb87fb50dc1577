import { join } from "node:path";
import { numbersOf } from "../../storage/segmented-log.ts";

/** Where the files of a log are. Names of tenants and threads never become paths. */
export interface LogPaths {
  readonly root: string;
  /** Segments of which every row is archived. */
  readonly archive: string;
  /** Copies of what a crash left half written. */
  readonly torn: string;
}

export function logPaths(directory: string): LogPaths {
  return { root: directory, archive: join(directory, "archive"), torn: join(directory, "torn") };
}

export function segmentName(segment: number): string {
  return `segment-${String(segment).padStart(8, "0")}.ndjson`;
}

export function indexName(segment: number): string {
  return `segment-${String(segment).padStart(8, "0")}.index`;
}

/** The numbers of the segments among some names, ascending; they begin at 1. */
export function segmentsIn(names: readonly string[]): number[] {
  return numbersOf(names, segmentName).filter((number) => number > 0);
}

/** The numbers of the indexes among some names, ascending. */
export function indexesIn(names: readonly string[]): number[] {
  return numbersOf(names, indexName).filter((number) => number > 0);
}
