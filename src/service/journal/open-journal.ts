import {
  type LogFile,
  orClosed,
  type RemovingFileLayer,
  refuseForeignLog,
  syncFile,
} from "../../audit/door.ts";
import { type Checkpoint, checkpointPath, readCheckpoint } from "./checkpoint-file.ts";
import type { JournalTorn, OnJournalDamage, OnJournalTorn } from "./journal-damage.ts";
import { mendSegment } from "./mend-segment.ts";
import { endsWithRecord, scanSegment } from "./scan-segment.ts";
import { draftsAmong, type Segment, segmentPath, segmentsAmong } from "./segment-list.ts";

export interface OpenJournalOptions {
  readonly files: RemovingFileLayer;
  readonly directory: string;
  readonly onDamage: OnJournalDamage;
  readonly onTorn: OnJournalTorn;
}

export interface OpenedJournal {
  /** Ascending. */
  readonly sealed: readonly Segment[];
  /** The segment for new lines, and its file. */
  readonly active: Segment;
  readonly file: LogFile;
  readonly checkpoint: Checkpoint;
  readonly torn: readonly JournalTorn[];
}

interface OpenedSegment {
  readonly segment: Segment;
  readonly file: LogFile;
  readonly torn: readonly JournalTorn[];
  /** Whether it can be continued. */
  readonly goesOn: boolean;
}

/** Prepares the journal for writing. The caller has locked the directory. */
export async function openJournal(options: OpenJournalOptions): Promise<OpenedJournal> {
  const { directory, files } = options;
  const names = await files.list(directory);
  refuseForeignLog(directory, "a journal", names);
  const firsts = segmentsAmong(directory, names);
  for (const draft of draftsAmong(directory, names)) await files.remove(draft);
  const checkpoint = await checkpointFrom(options, firsts[0]);
  const sealed: Segment[] = [];
  const torn: JournalTorn[] = [];
  for (const [index, first] of firsts.entries()) {
    const opened = await openSegment(first, firsts[index + 1], checkpoint.end, options);
    const { file, goesOn, segment } = opened;
    for (const each of opened.torn) torn.push(each);
    if (goesOn) return { sealed, active: segment, file, checkpoint, torn };
    await file.close();
    sealed.push(segment);
  }
  // A new journal, or lines are missing at the end. New lines must not get the offsets of missing ones.
  const first = checkpoint.end;
  const path = segmentPath(directory, first);
  const file = await files.open(path, "create");
  await orClosed(file, syncFile(file, files, directory));
  return { sealed, active: { first, path, size: 0, end: first }, file, checkpoint, torn };
}

/**
 * @param limit first offset of the next segment, if there is one.
 * @param synced all lines below this offset were on the disk.
 */
async function openSegment(
  first: number,
  limit: number | undefined,
  synced: number,
  options: OpenJournalOptions,
): Promise<OpenedSegment> {
  const { directory, files, onDamage, onTorn } = options;
  const path = segmentPath(directory, first);
  const file = await files.open(path, "update");
  if (file === undefined) throw new Error(`${path}: no such file any more`);
  // Sealed segments are checked when they are read. Here only their end is checked.
  if (limit !== undefined && (await orClosed(file, endsWithRecord(file, limit)))) {
    const segment = { first, path, size: await orClosed(file, file.size()), end: limit };
    return { segment, file, torn: [], goesOn: false };
  }
  const scan = scanSegment(file, { path, first, limit, synced, onDamage });
  const scanned = await orClosed(file, scan);
  const mended = await mendSegment(file, scanned, { files, directory, path, onTorn });
  // Writes of the previous process may still be in the system's cache only. From now on they count.
  await orClosed(mended.file, syncFile(mended.file, files, directory));
  return {
    segment: { first, path, size: mended.size, end: scanned.end },
    file: mended.file,
    torn: mended.torn,
    goesOn: limit === undefined && !scanned.isShort,
  };
}

/**
 * The checkpoint, or the start of the journal without a usable one.
 *
 * @param first the first existing offset.
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
