import { indexesIn, type LogPaths, segmentName, segmentsIn } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import type { LogProblem } from "./verify-report.ts";

/** A line without an end, although a later segment exists. */
export const CUT = "cut: the line has no end";

export const NO_LOG = "there is no audit log here";

/** The segments of a log, by the names in its directories. Numbers ascend. */
export interface SegmentFiles {
  /** In the directory or in the archive. */
  readonly present: readonly number[];
  /** In both, which never happens in an undamaged log. */
  readonly twice: readonly number[];
  /** The highest number, of a segment or an index. 0 if there is no log. */
  readonly last: number;
}

export async function segmentFiles(files: FileLayer, paths: LogPaths): Promise<SegmentFiles> {
  const names = await files.list(paths.root);
  const inRoot = segmentsIn(names);
  const inArchive = new Set(segmentsIn(await files.list(paths.archive)));
  const present = [...new Set([...inRoot, ...inArchive])].sort((a, b) => a - b);
  const known = new Set(present);
  const inBoth = inRoot.filter((number) => inArchive.has(number));
  // The writer may have archived a segment between the two listings. So list the directory again.
  const still = new Set(inBoth.length === 0 ? [] : segmentsIn(await files.list(paths.root)));
  const indexOnly = indexesIn(names).filter((number) => !known.has(number));
  return {
    present,
    last: Math.max(present.at(-1) ?? 0, indexOnly.at(-1) ?? 0),
    twice: inBoth.filter((number) => still.has(number)),
  };
}

/** The problem of segments that are missing. */
export function missingSegments(from: number, to: number): LogProblem {
  const problem = from === to ? "the segment is missing" : `missing, as all up to segment ${to}`;
  return { file: segmentName(from), line: 0, problem };
}
