import { indexesIn, type LogPaths, segmentName, segmentsIn } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import type { LogProblem } from "./verify-report.ts";

/** A line without an end, where no writer is at work any more. */
export const CUT = "cut: the line has no end";

export const NO_LOG = "there is no audit log here";

/** Which segments a log has, as the names in its folders say. Numbers ascend. */
export interface SegmentFiles {
  /** In the folder itself or in the archive. */
  readonly present: readonly number[];
  /** In both, which a log never leaves. */
  readonly twice: readonly number[];
  /** The highest there was, though only its index may be left; 0 where there is no log. */
  readonly last: number;
}

export async function segmentFiles(files: FileLayer, paths: LogPaths): Promise<SegmentFiles> {
  const names = await files.list(paths.root);
  const inRoot = segmentsIn(names);
  const inArchive = new Set(segmentsIn(await files.list(paths.archive)));
  const present = [...new Set([...inRoot, ...inArchive])].sort((a, b) => a - b);
  const known = new Set(present);
  const inBoth = inRoot.filter((number) => inArchive.has(number));
  // The writer may have archived one between the two looks: only what is still there is there twice.
  const still = new Set(inBoth.length === 0 ? [] : segmentsIn(await files.list(paths.root)));
  const indexOnly = indexesIn(names).filter((number) => !known.has(number));
  return {
    present,
    last: Math.max(present.at(-1) ?? 0, indexOnly.at(-1) ?? 0),
    twice: inBoth.filter((number) => still.has(number)),
  };
}

/** What is told of segments that are not there. */
export function missingSegments(from: number, to: number): LogProblem {
  const problem = from === to ? "the segment is missing" : `missing, as all up to segment ${to}`;
  return { file: segmentName(from), line: 0, problem };
}
