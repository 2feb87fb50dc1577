import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { wholeRuns } from "../../e2e/support/serve-runs.ts";
import { openJournal } from "../../service/journal/support/journals.ts";
import { line } from "../../service/journal/support/lines.ts";
import type { Random } from "../../support/random.ts";
import { seededUuid } from "./seeded-ids.ts";

/** A file of a journal, with its bytes as they were written. */
export interface JournalFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A journal as it stood on the disk at one time, in memory: to be damaged and put somewhere. */
export interface JournalTemplate {
  readonly files: readonly JournalFile[];
  /** Texts of all lines, in order. */
  readonly texts: readonly string[];
  /** Lines of the last write that are above the verified end: 0 where the journal was closed. */
  readonly open: number;
}

export interface JournalOptions {
  /** Whether it was closed; otherwise its writer was killed behind its last write. */
  readonly closed: boolean;
  /** Bytes of a segment. */
  readonly segmentBytes: number;
}

const WRITES = 8;
const LAST_LINES = 12;
/** A position: with it the journal remembers that all before the last write is on the disk. */
const VERIFIED = 8;
const CHECKPOINT = "checkpoint";

/** Writes a journal in `folder`, takes it into memory, and removes the folder. */
export async function journalTemplate(
  random: Random,
  folder: string,
  { closed, segmentBytes }: JournalOptions,
): Promise<JournalTemplate> {
  const runs = wholeRuns(WRITES + 2, "acme", 0, () => seededUuid(random));
  const writes = runs.slice(0, WRITES);
  const last = runs.slice(WRITES).flat().slice(0, LAST_LINES);
  const place = join(folder, "writing");
  const copy = join(folder, "killed");
  const journal = await openJournal(place, { segmentBytes });
  try {
    for (const texts of writes) await journal.append(texts.map((text) => line(text)));
    // The verified end is behind these: the last write comes after it.
    await journal.checkpoint(VERIFIED);
    const checkpoint = await readFile(join(place, CHECKPOINT));
    await journal.append(last.map((text) => line(text)));
    // What a `kill -9` leaves: all of it is on the disk.
    await mkdir(copy);
    await cp(place, copy, {
      recursive: true,
      filter: (path) => !/\/(?:sock-\w+|lock-\d+)$/.test(path),
    });
    // Where copying took long, the journal has remembered the last write, too.
    await writeFile(join(copy, CHECKPOINT), checkpoint);
  } finally {
    await journal.close();
  }
  const files = await readFiles(closed ? place : copy);
  await rm(place, { recursive: true });
  await rm(copy, { recursive: true });
  return { files, texts: [...writes.flat(), ...last], open: closed ? 0 : last.length };
}

/** The segments, ascending. */
export function segmentsOf({ files }: Pick<JournalTemplate, "files">): readonly JournalFile[] {
  return files
    .filter(({ name }) => name.startsWith("lines-"))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Puts the files into an empty folder. */
export async function place(files: readonly JournalFile[], folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { bytes, name } of files) await writeFile(join(folder, name), bytes);
}

/** All bytes that are set aside in the folder `torn`, one file after the other. */
export async function setAside(folder: string): Promise<Buffer> {
  const torn = join(folder, "torn");
  const names = await readdir(torn).catch(() => []);
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(torn, name)))));
}

async function readFiles(folder: string): Promise<JournalFile[]> {
  const names = (await readdir(folder)).filter((name) => /^(?:lines-|checkpoint$)/.test(name));
  return Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
  );
}
