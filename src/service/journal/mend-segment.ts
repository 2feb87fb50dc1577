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
 * Sets aside what stands in torn places, and leaves a segment with nothing but records: what stood
 * behind the last one is cut off, and holes take the place of what is missing before it. The file is
 * replaced for that, so that after a crash there is the old one or the new one.
 *
 * @param file is closed where it is replaced, or something fails.
 */
export async function mendSegment(
  file: LogFile,
  { size, torn: places }: ScannedSegment,
  options: MendOptions,
): Promise<MendedSegment> {
  const copy = await orClosed(file, copyOf(file, places, options));
  const torn = places.map(({ before, ...place }) => ({ ...place, file: options.path, copy }));
  if (torn.length > 0) options.onTorn(torn);
  if (places.every(({ before }) => before === undefined)) {
    if (places.some(({ bytes }) => bytes > 0)) await orClosed(file, file.truncate(size));
    return { file, size, torn };
  }
  const written = await orClosed(file, replace(file, places, size, options));
  const mended = await options.files.open(options.path, "update");
  if (mended === undefined) throw new Error(`${options.path}: no such file any more`);
  return { file: mended, size: written, torn };
}

async function copyOf(
  file: LogFile,
  places: readonly DamagedRange[],
  { directory, files, path }: MendOptions,
): Promise<string | undefined> {
  const torn = places.filter(({ bytes }) => bytes > 0);
  const [first] = torn;
  const last = torn.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const stem = `${basename(path)}-${first.position}`;
  const folder = join(directory, "torn");
  const end = last.position + last.bytes;
  return setAside(file, first.position, end, { files, directory: folder, stem });
}

/** @returns the bytes of the new file. */
async function replace(
  file: LogFile,
  places: readonly DamagedRange[],
  size: number,
  { directory, files, path }: MendOptions,
): Promise<number> {
  const draft = draftPath(path);
  const written = await writeThroughDraft(files, { draft, path }, async (target) => {
    const end = await writeMended(file, places, size, target);
    // Before the name changes: Windows replaces no open file.
    await file.close();
    return end;
  });
  await files.syncDirectory(directory);
  return written;
}

async function writeMended(
  file: LogFile,
  places: readonly DamagedRange[],
  size: number,
  draft: LogFile,
): Promise<number> {
  let from = 0;
  let at = 0;
  for (const { before, bytes, missing = 0, offset, position } of places) {
    if (before === undefined) break;
    at = await copyBytes(file, from, position, draft, at);
    from = position + bytes;
    if (missing === 0) continue;
    const hole = Buffer.from(`${holeText(offset, missing, before.write)}\n`);
    at = await writeFully(draft, hole, at);
  }
  return copyBytes(file, from, size, draft, at);
}
