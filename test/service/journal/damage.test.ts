import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { JournalDamage } from "../../../src/service/journal/journal-damage.ts";
import { all, brief, line, lines, temporaryFolder, texts } from "./support/lines.ts";

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => rm(folder, { recursive: true }));

const options = { segmentBytes: 2048 };

/** A journal of `count` writes of one line each, closed; gives the paths of its files, ascending. */
async function written(count: number): Promise<string[]> {
  const journal = await EventJournal.open(folder, options);
  for (let n = 0; n < count; n += 1) await journal.append([line(`text ${n}`)]);
  await journal.close();
  return paths();
}

async function paths(): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("lines-"));
  return names.sort().map((name) => join(folder, name));
}

async function editLines(path: string, edit: (lines: string[]) => string[]): Promise<void> {
  const text = await readFile(path, "utf8");
  await writeFile(path, `${edit(text.split("\n").slice(0, -1)).join("\n")}\n`);
}

/** Where the end mark begins, behind the last line. */
function endOf(bytes: Buffer): number {
  return bytes.lastIndexOf("\n", bytes.length - 2) + 1;
}

function firstOf(path: string): number {
  return Number(/lines-(\d+)/.exec(path)?.[1]);
}

/** Opens and reads all; what was told of on the way. */
async function openTelling(from = 0) {
  const damages: JournalDamage[] = [];
  const journal = await EventJournal.open(folder, {
    ...options,
    onDamage: (damage) => damages.push(damage),
  });
  const atOpen = damages.splice(0);
  const read = await all(journal.read(from));
  const { next } = journal;
  expect(await journal.append([line("after")])).toEqual({ first: next, last: next });
  await journal.close();
  return {
    atOpen,
    atRead: damages,
    offsets: read.map(({ offset }) => offset),
    read,
    next,
    journal,
  };
}

function without(count: number, ...missing: number[]): number[] {
  return Array.from({ length: count }, (_, n) => n).filter((n) => !missing.includes(n));
}

describe("a sealed file", () => {
  it("with an edited line opens, and is not read past it unless that is wanted", async () => {
    const [path = ""] = await written(60);
    await editLines(path, (each) => each.with(4, (each[4] ?? "").replace("text", "next")));
    const expected = {
      file: path,
      line: 5,
      expected: "the record of offset 4",
      found: "bytes with another checksum",
    };
    const journal = await EventJournal.open(folder, options);
    const got: string[] = [];
    const reading = (async () => {
      for await (const { text } of journal.read(2)) got.push(text);
    })();
    await expect(reading).rejects.toMatchObject({
      name: "JournalDamageError",
      code: "EDAMAGED",
      damage: expected,
      message: `${path}, line 5: expected the record of offset 4, found bytes with another checksum`,
    });
    const following = all(journal.follow(0, new AbortController().signal));
    await expect(following).rejects.toMatchObject({ damage: expected });
    expect(brief(await all(journal.read(30)))[0]).toBe("30 text 30");
    await journal.close();
    const told = await openTelling();
    expect(told).toMatchObject({ atOpen: [], atRead: [expected], offsets: without(60, 4) });
  });

  it.each([
    ["a missing line", (each: string[]) => each.toSpliced(6, 1), 7, "offset 7", [6]],
    ["a line twice", (each: string[]) => each.toSpliced(6, 0, each[5] ?? ""), 7, "offset 5", []],
    ["a strange line", (each: string[]) => each.toSpliced(6, 0, "{}"), 7, "bytes with", []],
    [
      "two lines in one",
      (each: string[]) => each.toSpliced(6, 2, `${each[6]}${each[7]}`),
      7,
      "bytes with another checksum",
      [6, 7],
    ],
  ])("with %s is told of", async (_, edit, at, found, missing) => {
    const [path = ""] = await written(60);
    await editLines(path, edit);
    const told = await openTelling();
    expect(told.atOpen).toEqual([]);
    expect(told.offsets).toEqual(without(60, ...missing));
    expect(told.atRead[0]).toMatchObject({
      file: path,
      line: at,
      expected: "the record of offset 6",
    });
    expect(told.atRead[0]?.found).toContain(found);
    expect(told.atRead.length).toBeLessThanOrEqual(2);
    expect(brief(told.read).every((each) => /^(\d+) text \1$/.test(each))).toBe(true);
  });

  it("that is cut short, or of which the last line is bad, does not open unless that is wanted", async () => {
    const [path = ""] = await written(60);
    const whole = await readFile(path);
    for (const cut of [1, 30, 200]) {
      await truncate(path, endOf(whole) - cut);
      await expect(EventJournal.open(folder, options)).rejects.toMatchObject({
        damage: { file: path },
      });
      const { atOpen, atRead, offsets, next } = await openTelling();
      expect(atOpen.length).toBeGreaterThan(0);
      expect(atRead).toEqual(atOpen);
      const second = firstOf((await paths())[1] ?? "");
      expect(offsets.length).toBeLessThan(next);
      expect(offsets.filter((offset) => offset >= second)).toEqual(
        without(next).filter((offset) => offset >= second),
      );
      await writeFile(path, whole);
    }
  });

  it("that lost its end, and holds lines of the next one's offsets, gives none of those", async () => {
    const [path = "", second = ""] = await written(60);
    const ghosts = (await readFile(second, "utf8")).split("\n").slice(0, 3);
    // The end mark goes with the last line.
    await editLines(path, (each) => [...each.slice(0, -2), ...ghosts]);
    const told = await openTelling();
    const missing = firstOf(second) - 1;
    expect(told.offsets).toEqual(without(60, missing));
    expect(brief(told.read).every((each) => /^(\d+) text \1$/.test(each))).toBe(true);
    expect(told.atOpen).toMatchObject([
      { file: path, expected: `the record of offset ${missing}` },
    ]);
    expect(told.atRead).toEqual(told.atOpen);
  });

  it("that is missing is told of", async () => {
    const [first = "", second = "", third = ""] = await written(80);
    await rm(second);
    await expect(EventJournal.open(folder, options)).rejects.toThrow(
      `${first}, line ${firstOf(second) + 2}: expected the record of offset ${firstOf(second)}, found the end of the file`,
    );
    const told = await openTelling();
    const missing = without(firstOf(third)).slice(firstOf(second));
    expect(told.offsets).toEqual(without(80, ...missing));
    expect(told.atOpen).toHaveLength(1);
    expect(told.atRead).toEqual(told.atOpen);
  });

  it("is read from its start where a search for an offset is led astray", async () => {
    const journal = await EventJournal.open(folder);
    await journal.append(lines(1, "x".repeat(200_000)));
    await journal.append([line("z".repeat(500))]);
    for (let n = 0; n < 20; n += 1) await journal.append(lines(100, "y".repeat(500)));
    await journal.close();
    const [path = ""] = await paths();
    // Claims of lower offsets everywhere in the second half.
    await editLines(path, (each) =>
      each.map((text, n) =>
        n > 900 && n < 1990 ? text.replace(/"offset":\d+/, '"offset":7') : text,
      ),
    );
    const damages: JournalDamage[] = [];
    const again = await EventJournal.open(folder, { onDamage: (damage) => damages.push(damage) });
    damages.length = 0;
    const read = await all(again.read(1995));
    expect(read.map(({ offset }) => offset)).toEqual([1995, 1996, 1997, 1998, 1999, 2000, 2001]);
    expect(damages[0]).toMatchObject({ line: 902, expected: "the record of offset 901" });
    await again.close();
  });
});

describe("the file that was written to", () => {
  it("with a bad line before a later write does not open unless that is wanted", async () => {
    const path = (await written(60)).at(-1) ?? "";
    const at = firstOf(path);
    await editLines(path, (each) => each.with(1, "0"));
    await expect(EventJournal.open(folder, options)).rejects.toThrow(
      `${path}, line 2: expected the record of offset ${at + 1}, found bytes with another checksum`,
    );
    const told = await openTelling();
    expect(told.offsets).toEqual(without(60, at + 1));
    expect(told.atOpen).toHaveLength(1);
    expect(told.next).toBe(60);
  });

  it("opens after a cut at any byte, with every record that is whole", async () => {
    const path = (await written(60)).at(-1) ?? "";
    // As a process leaves it that was killed.
    await rm(join(folder, "checkpoint"));
    const whole = await readFile(path);
    const lines = whole.subarray(0, endOf(whole)).filter((byte) => byte === 0x0a).length;
    for (let size = 0; size < whole.length; size += 11) {
      await writeFile(path, whole.subarray(0, size));
      const kept = whole.subarray(0, size).filter((byte) => byte === 0x0a).length;
      const end = whole.subarray(0, size).lastIndexOf(0x0a) + 1;
      const journal = await EventJournal.open(folder, options);
      expect(journal.next).toBe(firstOf(path) + Math.min(kept, lines));
      const cut = { file: path, line: kept + 1, position: end, bytes: size - end };
      expect(journal.torn).toMatchObject([{ ...cut, offset: journal.next, missing: undefined }]);
      const [{ copy } = {}] = journal.torn;
      if (size > end) expect(await readFile(copy ?? "")).toEqual(whole.subarray(end, size));
      else expect(copy).toBeUndefined();
      expect((await texts(journal)).length).toBe(journal.next);
      await journal.close();
      await rm(join(folder, "checkpoint"));
    }
  });

  it("that was closed holds all its lines: fewer are damage, and nothing is cut", async () => {
    const path = (await written(60)).at(-1) ?? "";
    const whole = await readFile(path);
    for (const [size, expected] of [
      [endOf(whole) - 1, 59],
      [endOf(whole) - 150, 58],
      [0, firstOf(path)],
    ] as const) {
      await writeFile(path, whole.subarray(0, size));
      await expect(EventJournal.open(folder, options)).rejects.toMatchObject({
        damage: { file: path, expected: `the record of offset ${expected}` },
      });
      expect(await readFile(path)).toEqual(whole.subarray(0, size));
    }
    const told = await openTelling();
    expect([told.next, told.offsets.at(-1)]).toEqual([60, firstOf(path) - 1]);
    expect(told.journal.torn).toEqual([]);
  });

  it("tells once of bad lines in a row, however many", async () => {
    const path = (await written(60)).at(-1) ?? "";
    await editLines(path, ([first = "", ...rest]) => [
      first,
      ...Array.from({ length: 5000 }, () => "x"),
      ...rest,
    ]);
    const told = await openTelling();
    expect(told.atOpen).toMatchObject([{ file: path, line: 2 }]);
    expect(told.atRead).toEqual(told.atOpen);
    expect(told.offsets).toEqual(without(60));
  });
});

describe("the checkpoint", () => {
  it.each([
    ["garbage", "x", "a position behind its checksum", "something else"],
    ["nothing", "", "a position behind its checksum", "something else"],
  ])("that is %s does not open unless that is wanted", async (_, text, expected, found) => {
    await written(5);
    const file = join(folder, "checkpoint");
    await writeFile(file, text);
    await expect(EventJournal.open(folder)).rejects.toMatchObject({
      damage: { file, line: 1, expected, found },
    });
    const { journal, offsets } = await openTelling();
    expect([journal.position, offsets]).toEqual([0, [0, 1, 2, 3, 4]]);
  });

  it("ahead of the lines never makes new ones pass for old ones", async () => {
    const journal = await EventJournal.open(folder);
    await journal.append(lines(10));
    await journal.checkpoint(7, 9);
    await journal.close();
    const [path = ""] = await paths();
    await editLines(path, (each) => each.slice(0, 3));
    await expect(EventJournal.open(folder)).rejects.toThrow(
      `${path}, line 4: expected the record of offset 3, found the end of the file`,
    );
    const told = await openTelling();
    expect([told.next, told.offsets]).toEqual([10, [0, 1, 2]]);
    expect([told.journal.position, told.journal.stored]).toEqual([7, 9]);
    expect(brief(await all(told.journal.read(9)))).toEqual(["10 after"]);
  });

  it("alone, without a file of lines, is told of, and gone on behind", async () => {
    for (const path of await written(60)) await rm(path);
    await expect(EventJournal.open(folder)).rejects.toThrow(
      "checkpoint, line 1: expected files of lines up to the offset 59, found none",
    );
    const told = await openTelling();
    expect([told.next, told.offsets, told.journal.first]).toEqual([60, [], 60]);
  });

  it("behind the first line is told of", async () => {
    const [first = ""] = await written(60);
    const journal = await EventJournal.open(folder, { keep: 100 });
    await journal.checkpoint(5);
    await journal.close();
    await rm(first);
    const begin = firstOf((await paths())[0] ?? "");
    await expect(EventJournal.open(folder)).rejects.toThrow(
      `expected a position from ${begin}, where the journal begins, found 5`,
    );
    expect((await openTelling()).journal.position).toBe(begin);
  });
});
