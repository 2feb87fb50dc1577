import { basename, join } from "node:path";
import type { FileLayer, LogFile } from "../../storage/file-layer.ts";
import { orClosed } from "../../storage/or-closed.ts";
import { copyBytes, setAside } from "../../storage/set-aside.ts";
import { writeFully } from "../../storage/write-fully.ts";
import { holeText } from "./record.ts";
import type { ScannedSegment, TornPlace } from "./scan-segment.ts";
import { draftPath } from "./segment.ts";

/** A place in the last write that opening found damaged, and set aside. */
export interface JournalTorn extends Omit<TornPlace, "before"> {
  /** Path of the file. Line and position are those before it was mended. */
  readonly file: string;
  /**
   * Path of a copy of the bytes, with all up to the last such place in the file; the first one is at
   * its start. `undefined` where no place in the file has bytes.
   */
  readonly copy: string | undefined;
}

/** Called with the places of a file once their copy is on the disk, before the file is changed. */
export type OnJournalTorn = (torn: readonly JournalTorn[]) => void;

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
  const written = await orClosed(file, writeDraft(file, places, size, options));
  await file.close();
  return { ...(await replace(options)), size: written, torn };
}

async function copyOf(
  file: LogFile,
  places: readonly TornPlace[],
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

/** @returns its bytes. */
async function writeDraft(
  file: LogFile,
  places: readonly TornPlace[],
  size: number,
  { files, path }: MendOptions,
): Promise<number> {
  const draft = await files.open(draftPath(path), "create");
  const written = await orClosed(draft, writeMended(file, places, size, draft));
  await draft.close();
  return written;
}

async function writeMended(
  file: LogFile,
  places: readonly TornPlace[],
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
  at = await copyBytes(file, from, size, draft, at);
  await draft.sync();
  return at;
}

async function replace({ directory, files, path }: MendOptions): Promise<{ file: LogFile }> {
  await files.rename(draftPath(path), path);
  await files.syncDirectory(directory);
  const file = await files.open(path, "update");
  if (file === undefined) throw new Error(`${path}: no such file any more`);
  return { file };
}
