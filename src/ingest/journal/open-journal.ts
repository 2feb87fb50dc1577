import type { FileLayer, LogFile } from "../../storage/file-layer.ts";
import { refuseForeignLog } from "../../storage/foreign-log.ts";
import { orClosed } from "../../storage/or-closed.ts";
import { type Checkpoint, checkpointPath, readCheckpoint } from "./checkpoint-file.ts";
import type { OnJournalDamage } from "./journal-damage.ts";
import { endsWithRecord, scanSegment } from "./scan-segment.ts";
import { type Segment, segmentPath, segmentsAmong } from "./segment.ts";

/** What a crash has left behind the last record of a file, and opening has cut off. */
export interface JournalTorn {
  /** Path of the file. */
  readonly file: string;
  /** Where it stood. */
  readonly position: number;
  readonly bytes: number;
}

export interface OpenJournalOptions {
  readonly files: FileLayer;
  readonly directory: string;
  readonly onDamage: OnJournalDamage;
}

export interface OpenedJournal {
  /** Ascending. */
  readonly sealed: readonly Segment[];
  /** The one to be written, and its file. */
  readonly active: Segment;
  readonly file: LogFile;
  readonly checkpoint: Checkpoint;
  readonly torn: readonly JournalTorn[];
}

interface OpenedSegment {
  readonly segment: Segment;
  readonly torn: JournalTorn | undefined;
  /** May be written to. */
  readonly goesOn: boolean;
}

/** Makes what is there ready to be written to. The caller holds the directory's lock. */
export async function openJournal(options: OpenJournalOptions): Promise<OpenedJournal> {
  const { directory, files } = options;
  const names = await files.list(directory);
  refuseForeignLog(directory, "a journal", names);
  const firsts = segmentsAmong(directory, names);
  const checkpoint = await checkpointFrom(options, firsts[0]);
  const sealed: Segment[] = [];
  const torn: JournalTorn[] = [];
  for (const [index, first] of firsts.entries()) {
    const path = segmentPath(directory, first);
    const file = await files.open(path, "update");
    if (file === undefined) throw new Error(`${path}: no such file any more`);
    const limit = firsts[index + 1];
    const opened = await orClosed(file, openSegment(file, first, limit, checkpoint.end, options));
    if (opened.torn !== undefined) torn.push(opened.torn);
    if (opened.goesOn) return { sealed, active: opened.segment, file, checkpoint, torn };
    await file.close();
    sealed.push(opened.segment);
  }
  // The first, or lines are missing at the end, and new ones must not be taken for those.
  const first = checkpoint.end;
  const path = segmentPath(directory, first);
  const file = await files.open(path, "create");
  await orClosed(file, makeSafe(file, options));
  return { sealed, active: { first, path, size: 0, end: first }, file, checkpoint, torn };
}

/**
 * @param limit first offset of the next segment, if there is one.
 * @param synced an offset below which all was on the disk once.
 */
async function openSegment(
  file: LogFile,
  first: number,
  limit: number | undefined,
  synced: number,
  options: OpenJournalOptions,
): Promise<OpenedSegment> {
  const path = segmentPath(options.directory, first);
  // A sealed one is checked where its lines are read: now it is enough that its end is right.
  if (limit !== undefined && (await endsWithRecord(file, limit - 1))) {
    const segment = { first, path, size: await file.size(), end: limit };
    return { segment, torn: undefined, goesOn: false };
  }
  const how = { path, first, onDamage: options.onDamage };
  let scanned = await scanSegment(file, { ...how, limit });
  const isShort = scanned.end < synced && limit === undefined;
  if (isShort) scanned = await scanSegment(file, { ...how, limit: synced });
  const { end, size, torn } = scanned;
  if (torn > 0) await file.truncate(size);
  // What the dead process wrote may still be with the system only, and counts from now on.
  await makeSafe(file, options);
  return {
    segment: { first, path, size, end },
    torn: torn > 0 ? { file: path, position: size, bytes: torn } : undefined,
    goesOn: limit === undefined && !isShort,
  };
}

async function makeSafe(file: LogFile, { directory, files }: OpenJournalOptions): Promise<void> {
  await file.sync();
  await files.syncDirectory(directory);
}

/**
 * The checkpoint, or the journal's begin where there is none that can be used.
 *
 * @param first the first offset that is there.
 */
async function checkpointFrom(
  { directory, files, onDamage }: OpenJournalOptions,
  first: number | undefined,
): Promise<Checkpoint> {
  const begin = first ?? 0;
  const file = checkpointPath(directory);
  const found = await readCheckpoint(files, directory);
  if (found === undefined) return { position: begin, stored: begin, end: begin };
  if (found === "unreadable") {
    const expected = "a position behind its checksum";
    onDamage({ file, line: 1, expected, found: "something else" });
    return { position: begin, stored: begin, end: begin };
  }
  const { end, position, stored } = found;
  if (first === undefined && end > 0) {
    const expected = `files of lines up to the offset ${end - 1}`;
    onDamage({ file, line: 1, expected, found: "none" });
  }
  if (position >= begin) return found;
  const expected = `a position from ${begin}, where the journal begins`;
  onDamage({ file, line: 1, expected, found: `${position}` });
  return { position: begin, stored: Math.max(begin, stored), end: Math.max(begin, end) };
}
