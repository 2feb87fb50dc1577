import { basename, join } from "node:path";
import {
  copyBytes,
  type FileLayer,
  type LogFile,
  orClosed,
  setAside,
  writeFully,
  writeThroughDraft,
} from "../../audit/door.ts";
import type { DamagedRange, JournalTorn, OnJournalTorn } from "./journal-damage.ts";
import { holeText } from "./record.ts";
import type { ScannedSegment } from "./scan-segment.ts";
import { draftPath } from "./segment-list.ts";

export interface MendOptions {
  readonly files: FileLayer;
  readonly directory: string;
  readonly path: string;
  readonly onTorn: OnJournalTorn;
}

export interface MendedSegment {
  readonly file: LogFile;
  readonly size: number;
  readonly torn: readonly JournalTorn[];
}

/**
 * Copies damaged ranges and removes them from a segment: ranges after the last record are cut off, and holes replace
 * missing records. The file is replaced, so that after a crash there is either the old or the new one.
 *
 * @param file is closed if it is replaced, or an operation fails.
 */
export async function mendSegment(
  file: LogFile,
  { size, torn: ranges }: ScannedSegment,
  options: MendOptions,
): Promise<MendedSegment> {
  const copy = await orClosed(file, copyOf(file, ranges, options));
  const torn = ranges.map(({ before, ...range }) => ({ ...range, file: options.path, copy }));
  if (torn.length > 0) options.onTorn(torn);
  if (ranges.every(({ before }) => before === undefined)) {
    if (ranges.some(({ bytes }) => bytes > 0)) await orClosed(file, file.truncate(size));
    return { file, size, torn };
  }
  const written = await orClosed(file, replace(file, ranges, size, options));
  const mended = await options.files.open(options.path, "update");
  if (mended === undefined) throw new Error(`${options.path}: no such file any more`);
  return { file: mended, size: written, torn };
}

async function copyOf(
  file: LogFile,
  ranges: readonly DamagedRange[],
  { directory, files, path }: MendOptions,
): Promise<string | undefined> {
  const torn = ranges.filter(({ bytes }) => bytes > 0);
  const [first] = torn;
  const last = torn.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const stem = `${basename(path)}-${first.position}`;
  const folder = join(directory, "torn");
  const end = last.position + last.bytes;
  return setAside(file, first.position, end, { files, directory: folder, stem });
}

/** @returns the size of the new file. */
async function replace(
  file: LogFile,
  ranges: readonly DamagedRange[],
  size: number,
  { directory, files, path }: MendOptions,
): Promise<number> {
  const draft = draftPath(path);
  const written = await writeThroughDraft(files, { draft, path }, async (target) => {
    const end = await writeMended(file, ranges, size, target);
    // Before the rename: Windows can't replace an open file.
    await file.close();
    return end;
  });
  await files.syncDirectory(directory);
  return written;
}

async function writeMended(
  file: LogFile,
  ranges: readonly DamagedRange[],
  size: number,
  draft: LogFile,
): Promise<number> {
  let from = 0;
  let at = 0;
  for (const { before, bytes, missing = 0, offset, position } of ranges) {
    if (before === undefined) break;
    at = await copyBytes(file, from, position, draft, at);
    from = position + bytes;
    if (missing === 0) continue;
    const hole = Buffer.from(`${holeText(offset, missing, before.write)}\n`);
    at = await writeFully(draft, hole, at);
  }
  return copyBytes(file, from, size, draft, at);
}
