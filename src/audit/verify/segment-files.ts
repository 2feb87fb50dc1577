import type { FileLayer } from "../../storage/file-layer.ts";
import { indexesIn, type LogPaths, segmentsIn } from "../ndjson/log-directory.ts";

/** Which segments a log has, as the names in its folders say. Numbers ascend. */
export interface SegmentFiles {
  /** In the folder itself or in the archive. */
  readonly present: readonly number[];
  /** In both, which a log never leaves. */
  readonly twice: readonly number[];
  /** Only their index is left. */
  readonly indexOnly: readonly number[];
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
  return {
    present,
    twice: inBoth.filter((number) => still.has(number)),
    indexOnly: indexesIn(names).filter((number) => !known.has(number)),
  };
}
