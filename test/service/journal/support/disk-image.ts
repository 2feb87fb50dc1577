import { type RemovingFileLayer, writeFully } from "../../../../src/audit/door.ts";
import type { EventJournal } from "../../../../src/service/journal/event-journal.ts";
import { JournalDamageError } from "../../../../src/service/journal/journal-damage.ts";
import { MemoryDisk, seeded } from "../../../audit/storage/support/memory-disk.ts";

/** The files of a journal by their names. */
export type Image = ReadonlyMap<string, Buffer>;

export const FOLDER = "/log";

/** A disk with these files, all of them safe. */
export async function diskOf(image: Image): Promise<MemoryDisk> {
  const disk = new MemoryDisk(seeded(1));
  const layer = disk.layer();
  for (const [name, bytes] of image) {
    const file = await layer.open(`${FOLDER}/${name}`, "create");
    await writeFully(file, bytes, 0);
    await file.sync();
  }
  await layer.syncDirectory(FOLDER);
  return disk;
}

/** What a disk holds of a journal, as a process that is killed now leaves it. Its reserve is random. */
export async function imageOf(layer: RemovingFileLayer, names: readonly string[]): Promise<Image> {
  const image = new Map<string, Buffer>();
  for (const path of names.filter((name) => !name.endsWith("/lock-reserve"))) {
    const file = await layer.open(path, "read");
    if (file === undefined) continue;
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    image.set(path.slice(FOLDER.length + 1), bytes);
  }
  return image;
}

/** One line of a segment. */
export interface Entry {
  readonly start: number;
  /** Behind its newline. */
  readonly end: number;
  readonly offset: number;
  readonly write: number;
  /** `undefined`: the end mark. */
  readonly text: string | undefined;
}

export function entriesOf(bytes: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start) + 1;
    const record = bytes.toString("utf8", start + 9, end - 1);
    const tab = record.indexOf("\t");
    const { missing, offset, write } = JSON.parse(record.slice(0, tab));
    const text = missing === undefined ? record.slice(tab + 1) : undefined;
    entries.push({ start, end, offset, write, text });
    start = end;
  }
  return entries;
}

/** Lines by their offsets, and the damage that ended reading. */
export async function readAll(journal: EventJournal, from = 0) {
  const lines = new Map<number, string>();
  try {
    for await (const { offset, text } of journal.read(from)) lines.set(offset, text);
  } catch (error) {
    if (!(error instanceof JournalDamageError)) throw error;
    return { lines, damage: error.damage };
  }
  return { lines, damage: undefined };
}
