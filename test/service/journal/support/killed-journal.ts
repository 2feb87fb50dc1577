import { expect } from "vitest";
import { EventJournal } from "../../../../src/service/journal/event-journal.ts";
import type { JournalTorn } from "../../../../src/service/journal/journal-damage.ts";
import { JournalDamageError } from "../../../../src/service/journal/journal-damage.ts";
import { MemoryDisk, seeded } from "../../../audit/storage/support/memory-disk.ts";
import { diskOf, FOLDER, type Image, imageOf, readAll } from "./disk-image.ts";
import { line } from "./lines.ts";

export const NAME = "lines-0000000000000000.v1.log";
export const PATH = `${FOLDER}/${NAME}`;
export const options = { segmentBytes: 1024 * 1024 };

/** A write of so many lines each, as a process leaves them that is killed when it is idle. */
export async function written(...counts: readonly number[]): Promise<Image> {
  const disk = new MemoryDisk(seeded(1));
  const journal = await EventJournal.open(FOLDER, { ...options, fileLayer: disk.layer() });
  let at = 0;
  for (const count of counts) {
    await journal.append(Array.from({ length: count }, (_, n) => line(`line ${at + n}`)));
    at += count;
  }
  return imageOf(disk.layer(), disk.names);
}

/** Lines of the file without their line feeds; the last is the end mark. */
export function linesOf(image: Image): string[] {
  return (image.get(NAME)?.toString("latin1") ?? "").split("\n").slice(0, -1);
}

export function withLines(image: Image, edit: (lines: string[]) => readonly string[]): Image {
  const text = edit(linesOf(image)).map((each) => `${each}\n`);
  return new Map(image).set(NAME, Buffer.from(text.join(""), "latin1"));
}

export function bad(text: string): string {
  return text.replace("line", "lime");
}

export function without(count: number, ...missing: number[]): number[] {
  return Array.from({ length: count }, (_, n) => n).filter((n) => !missing.includes(n));
}

/** Opens it, reads all, adds a line, and opens it once more after kill -9. */
export async function opened(image: Image) {
  const disk = await diskOf(image);
  const told: JournalTorn[] = [];
  const onTorn = (torn: readonly JournalTorn[]) => void told.push(...torn);
  const open = () => EventJournal.open(FOLDER, { ...options, fileLayer: disk.layer(), onTorn });
  const journal = await open();
  const { torn, next } = journal;
  expect(told).toEqual(torn);
  const read = await readAll(journal);
  expect(read.damage).toBeUndefined();
  for (const [offset, text] of read.lines) expect(text).toBe(`line ${offset}`);
  expect(await journal.append([line(`line ${next}`)])).toEqual({ first: next, last: next });
  const files = await imageOf(disk.layer(), disk.names);
  disk.restart();
  await journal.close();
  const again = await open();
  expect(again.torn).toEqual([]);
  expect((await readAll(again)).lines).toEqual(read.lines.set(next, `line ${next}`));
  await again.close();
  const offsets = [...read.lines.keys()].filter((offset) => offset !== next);
  const copies = [...files].filter(([name]) => name.startsWith("torn/"));
  return { torn, offsets, next, copies: new Map(copies) };
}

export async function refusal(image: Image) {
  const disk = await diskOf(image);
  const thrown = await EventJournal.open(FOLDER, { ...options, fileLayer: disk.layer() }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown instanceof JournalDamageError ? thrown.damage : undefined;
}
