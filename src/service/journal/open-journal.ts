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
  /** The one to be written, and its file. */
  readonly active: Segment;
  readonly file: LogFile;
  readonly checkpoint: Checkpoint;
  readonly torn: readonly JournalTorn[];
}

interface OpenedSegment {
  readonly segment: Segment;
  readonly file: LogFile;
  readonly torn: readonly JournalTorn[];
  /** May be written to. */
  readonly goesOn: boolean;
}

/** Makes what is there ready to be written to. The caller holds the directory's lock. */
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
  // The first, or lines are missing at the end, and new ones must not be taken for those.
  const first = checkpoint.end;
  const path = segmentPath(directory, first);
  const file = await files.open(path, "create");
  await orClosed(file, syncFile(file, files, directory));
  return { sealed, active: { first, path, size: 0, end: first }, file, checkpoint, torn };
}

/**
 * @param limit first offset of the next segment, if there is one.
 * @param synced an offset below which all was on the disk once.
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
  // A sealed one is checked where its lines are read: now it is enough that its end is right.
  if (limit !== undefined && (await orClosed(file, endsWithRecord(file, limit)))) {
    const segment = { first, path, size: await orClosed(file, file.size()), end: limit };
    return { segment, file, torn: [], goesOn: false };
  }
  const scan = scanSegment(file, { path, first, limit, synced, onDamage });
  const scanned = await orClosed(file, scan);
  const mended = await mendSegment(file, scanned, { files, directory, path, onTorn });
  // What the dead process wrote may still be with the system only, and counts from now on.
  await orClosed(mended.file, syncFile(mended.file, files, directory));
  return {
    segment: { first, path, size: mended.size, end: scanned.end },
    file: mended.file,
    torn: mended.torn,
    goesOn: limit === undefined && !scanned.isShort,
  };
}

/**
 * The checkpoint, or the start of the journal where no checkpoint can be used.
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
