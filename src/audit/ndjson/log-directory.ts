import { join } from "node:path";

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

/** The numbers of the segments among some names, ascending. */
export function segmentsIn(names: readonly string[]): number[] {
  return numbersIn(names, /^segment-(\d{8,15})\.ndjson$/, segmentName);
}

/** The numbers of the indexes among some names, ascending. */
export function indexesIn(names: readonly string[]): number[] {
  return numbersIn(names, /^segment-(\d{8,15})\.index$/, indexName);
}

function numbersIn(
  names: readonly string[],
  shape: RegExp,
  nameOf: (segment: number) => string,
): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const match = shape.exec(name);
    const segment = match === null ? 0 : Number(match[1]);
    // A name with more zeros than ours would be a second file of one segment.
    if (segment > 0 && nameOf(segment) === name) numbers.push(segment);
  }
  return numbers.sort((a, b) => a - b);
}
