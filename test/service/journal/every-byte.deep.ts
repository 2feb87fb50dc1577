import { describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { JournalTorn } from "../../../src/service/journal/journal-damage.ts";
import {
  type JournalDamage,
  JournalDamageError,
} from "../../../src/service/journal/journal-damage.ts";
import { withChecksum } from "../../../src/service/journal/record.ts";
import { MemoryDisk, seeded } from "../../audit/storage/support/memory-disk.ts";
import {
  diskOf,
  type Entry,
  entriesOf,
  FOLDER,
  type Image,
  imageOf,
  readAll,
} from "./support/disk-image.ts";
import { line } from "./support/lines.ts";

const SEALED = "lines-0000000000000000.v1.log";

/** Two files, each with more than one write, as a process leaves them that is killed when it is idle. */
async function written(): Promise<Image> {
  const disk = new MemoryDisk(seeded(1));
  const journal = await EventJournal.open(FOLDER, { fileLayer: disk.layer(), segmentBytes: 1024 });
  const append = (...texts: string[]) => journal.append(texts.map((text) => line(text)));
  await append("one", "two", "three");
  await append("four");
  await append(...Array.from({ length: 6 }, (_, n) => `sealed ${n}`));
  // Texts of which a flipped bit makes a line feed, and of more than one byte a character.
  await append("J*", "");
  await Promise.all([append("JJ", "é漢"), append("*"), append("tab\there")]);
  return imageOf(disk.layer(), disk.names);
}

const image = await written();
const active = [...image.keys()].filter((name) => name.startsWith("lines-")).sort()[1] ?? "";
const sealedEntries = entriesOf(fileOf(image, SEALED));
const activeEntries = entriesOf(fileOf(image, active));
const first = activeEntries[0]?.offset ?? 0;
const texts = new Map(
  [...sealedEntries, ...activeEntries].flatMap(({ offset, text }) =>
    text === undefined ? [] : [[offset, text] as const],
  ),
);

function fileOf(from: Image, name: string): Buffer {
  const bytes = from.get(name);
  if (bytes === undefined) throw new Error(`no file ${name}`);
  return bytes;
}

/** Texts are compared much faster. */
function asText(of: Image): Map<string, string> {
  return new Map([...of].map(([name, bytes]) => [name, bytes.toString("latin1")]));
}

function withEnd(end: number): Image {
  const text = withChecksum(JSON.stringify({ position: 0, stored: 0, end }));
  return new Map(image).set("checkpoint", Buffer.from(`${text}\n`));
}

/** What opening, and reading from the start, must come to. */
interface Outcome {
  /** Opening fails with it. */
  readonly refused?: Pick<JournalDamage, "file" | "line">;
  readonly torn?: Omit<JournalTorn, "copy"> | undefined;
  /** Lines that can't be read. */
  readonly gone?: readonly number[];
  /** Reading fails with it. */
  readonly unread?: Pick<JournalDamage, "file" | "line">;
}

async function check(damaged: Image, outcome: Outcome, place: string): Promise<void> {
  const disk = await diskOf(damaged);
  const { gone = [], refused, torn, unread } = outcome;
  const opening = EventJournal.open(FOLDER, { fileLayer: disk.layer() });
  if (refused !== undefined) {
    const thrown = await opening.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof JournalDamageError)) throw new Error(`${place}: not refused`);
    expect(thrown.damage, place).toMatchObject(refused);
    expect(asText(await imageOf(disk.layer(), disk.names)), place).toEqual(asText(damaged));
    return;
  }
  const journal = await opening;
  const expected = new Map([...texts].filter(([offset]) => !gone.includes(offset)));
  const end = Math.max(...expected.keys()) + 1;
  const read = await readAll(journal);
  if (unread === undefined) {
    expect([read.damage, read.lines, journal.next], place).toEqual([undefined, expected, end]);
  } else {
    expect(read.damage, place).toMatchObject(unread);
    for (const [offset, text] of read.lines) expect(text, place).toBe(texts.get(offset));
    expect((await readAll(journal, first)).lines.size, place).toBe(texts.size - first);
    return;
  }
  const [found, ...others] = journal.torn;
  expect(others, place).toEqual([]);
  if (torn === undefined) expect(found, place).toBeUndefined();
  else {
    expect(found, place).toMatchObject(torn);
    const copy = (await imageOf(disk.layer(), [found?.copy ?? ""])).values().next().value;
    const bytes = damaged.get(torn.file.slice(FOLDER.length + 1));
    const stood = bytes?.subarray(torn.position, torn.position + torn.bytes);
    const expected = torn.bytes === 0 ? undefined : stood;
    expect(copy?.toString("latin1"), place).toEqual(expected?.toString("latin1"));
  }
  // It goes on, and the next start, after kill -9, finds nothing to mend.
  expect(await journal.append([line("more")]), place).toEqual({ first: end, last: end });
  disk.restart();
  await journal.close();
  const again = await EventJournal.open(FOLDER, { fileLayer: disk.layer() });
  expect([again.torn, (await readAll(again)).lines], place).toEqual([
    [],
    new Map(expected).set(end, "more"),
  ]);
}

/** What damage to some neighbouring entries of the file that was written to must come to. */
function outcomeOf(entries: readonly Entry[], bad: readonly Entry[], synced: number): Outcome {
  const [worst] = bad;
  if (worst === undefined) return {};
  const file = `${FOLDER}/${active}`;
  const number = entries.indexOf(worst) + 1;
  const gone = bad.flatMap(({ offset, text }) => (text === undefined ? [] : [offset]));
  const left = entries.filter((entry) => entry.text !== undefined && !bad.includes(entry));
  const safe = Math.max(synced, first, ...left.map(({ write }) => write));
  if (gone.length > 0 && worst.offset < safe) return { refused: { file, line: number } };
  const { offset, start } = worst;
  const bytes = (bad.at(-1)?.end ?? 0) - start;
  const missing = bad.some(({ text }) => text === undefined) ? undefined : gone.length;
  return { torn: { file, line: number, position: start, bytes, offset, missing }, gone };
}

const middle = activeEntries.findLast(({ text }) => text !== undefined)?.write ?? 0;
const total = texts.size;

describe.each([
  ["the start", 0],
  ["the middle", middle],
  ["the end", total],
])("the verified end at %s", (_, synced) => {
  const whole = withEnd(synced);

  it("each flipped bit of the file that was written to is named, and no other line is lost", async () => {
    const bytes = fileOf(whole, active);
    for (const [at, byte] of bytes.entries()) {
      const entry = activeEntries.find(({ end }) => at < end);
      const index = entry === undefined ? -1 : activeEntries.indexOf(entry);
      const bad = activeEntries.slice(index, index + (byte === 0x0a ? 2 : 1));
      const outcome = outcomeOf(activeEntries, bad, synced);
      const makesLine = Math.log2(byte ^ 0x0a);
      for (const bit of new Set([at % 8, 5, Number.isInteger(makesLine) ? makesLine : 0])) {
        const flipped = Buffer.from(bytes);
        flipped[at] = byte ^ (1 << bit);
        await check(new Map(whole).set(active, flipped), outcome, `byte ${at}, bit ${bit}`);
      }
    }
  });

  it("each cut of the file that was written to is named, and no line before it is lost", async () => {
    const bytes = fileOf(whole, active);
    for (let size = 0; size < bytes.length; size += 1) {
      const kept = activeEntries.filter(({ end }) => end <= size);
      const cut = activeEntries.slice(kept.length);
      const [{ offset, start } = { offset: 0, start: 0 }] = cut;
      const place = { file: `${FOLDER}/${active}`, line: kept.length + 1 };
      const gone = cut.flatMap((entry) => (entry.text === undefined ? [] : [entry.offset]));
      const torn = { position: start, bytes: size - start, offset, missing: undefined };
      const outcome = offset < synced ? { refused: place } : { torn: { ...place, ...torn }, gone };
      const image = new Map(whole).set(active, bytes.subarray(0, size));
      await check(image, outcome, `cut at ${size}`);
    }
  });
});

describe("the other files", () => {
  const whole = withEnd(middle);

  it("each flipped bit, and each cut, of the file before is named", async () => {
    const bytes = fileOf(whole, SEALED);
    const file = `${FOLDER}/${SEALED}`;
    const mark = sealedEntries.at(-1);
    for (const [at, byte] of bytes.entries()) {
      const index = sealedEntries.findIndex(({ end }) => at < end);
      const bad = sealedEntries.slice(index, index + (byte === 0x0a ? 2 : 1));
      const [{ end: _end, ...worst } = { start: 0, end: 0, offset: 0, text: "" }] = bad;
      const place = { file, line: index + 1 };
      const tail = { position: worst.start, bytes: bytes.length - worst.start, offset: first };
      const outcome: Outcome =
        worst.text === undefined
          ? { torn: { ...place, ...tail, missing: 0 } }
          : bad.some((entry) => entry === mark)
            ? { refused: place }
            : { unread: place };
      const flipped = Buffer.from(bytes);
      flipped[at] = byte ^ (1 << (at % 8));
      await check(new Map(whole).set(SEALED, flipped), outcome, `byte ${at}`);
    }
    for (let size = 0; size < bytes.length; size += 1) {
      const kept = sealedEntries.filter(({ end }) => end <= size).length;
      const start = sealedEntries[kept]?.start ?? 0;
      const place = { file, line: kept + 1 };
      const tail = { position: start, bytes: size - start, offset: first, missing: 0 };
      // Without any of the end mark nothing is missing: the next file is there.
      const torn = size === start ? undefined : { ...place, ...tail };
      const outcome = start < (mark?.start ?? 0) ? { refused: place } : { torn };
      const image = new Map(whole).set(SEALED, bytes.subarray(0, size));
      await check(image, outcome, `cut at ${size}`);
    }
  });

  it("each flipped bit, and each cut, of the checkpoint is named", async () => {
    const bytes = fileOf(whole, "checkpoint");
    const refused = { file: `${FOLDER}/checkpoint`, line: 1 };
    for (const [at, byte] of bytes.entries()) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped[at] = byte ^ (1 << bit);
        // All but the line feed behind it, which nothing depends on.
        const outcome = at === bytes.length - 1 ? {} : { refused };
        await check(new Map(whole).set("checkpoint", flipped), outcome, `byte ${at}, bit ${bit}`);
      }
      const cut = new Map(whole).set("checkpoint", bytes.subarray(0, at));
      await check(cut, { refused }, `cut at ${at}`);
    }
  });
});

it("without a checkpoint the verified end is where the last file begins", async () => {
  const whole = new Map(image);
  whole.delete("checkpoint");
  await check(whole, {}, "none");
  const bytes = fileOf(whole, active);
  for (const at of bytes.keys()) {
    const index = activeEntries.findIndex(({ end }) => at < end);
    const bad = activeEntries.slice(index, index + (bytes[at] === 0x0a ? 2 : 1));
    const flipped = Buffer.from(bytes);
    flipped[at] = (bytes[at] ?? 0) ^ 1;
    const outcome = outcomeOf(activeEntries, bad, 0);
    await check(new Map(whole).set(active, flipped), outcome, `byte ${at}`);
  }
});
