import { describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { JournalTorn } from "../../../src/service/journal/journal-damage.ts";
import { PowerLoss } from "../../audit/storage/support/memory-disk.ts";
import { diskOf, entriesOf, FOLDER, imageOf, readAll } from "./support/disk-image.ts";
import {
  bad,
  linesOf,
  NAME,
  opened,
  options,
  PATH,
  refusal,
  withLines,
  without,
  written,
} from "./support/killed-journal.ts";
import { all, line, lines } from "./support/lines.ts";

describe("the last write", () => {
  it("loses no line but the one that is damaged, of 120", async () => {
    const image = withLines(await written(120), (each) => each.with(60, bad(each[60] ?? "")));
    const { copies, next, offsets, torn } = await opened(image);
    const { start = 0, end = 0 } = entriesOf(image.get(NAME) ?? Buffer.alloc(0))[60] ?? {};
    const copy = `${FOLDER}/torn/${NAME}-${start}.torn`;
    const place = { file: PATH, line: 61, position: start, bytes: end - start };
    expect(torn).toEqual([{ ...place, offset: 60, missing: 1, copy }]);
    expect([offsets, next]).toEqual([without(120, 60), 120]);
    expect(copies).toEqual(
      new Map([[`torn/${NAME}-${start}.torn`, image.get(NAME)?.subarray(start, end)]]),
    );
  });

  it("keeps what is between damaged places, whose copy has all of them", async () => {
    const image = withLines(await written(2, 20), (each) =>
      each.map((text, n) => ([4, 5, 9, 20].includes(n) ? bad(text) : text)),
    );
    const { copies, offsets, torn } = await opened(image);
    expect(torn).toMatchObject([
      { line: 5, offset: 4, missing: 2 },
      { line: 10, offset: 9, missing: 1 },
      { line: 21, offset: 20, missing: 1 },
    ]);
    expect(offsets).toEqual(without(22, 4, 5, 9, 20));
    const bytes = image.get(NAME);
    const [from, , to] = torn;
    expect([...copies.values()]).toEqual([
      bytes?.subarray(from?.position ?? 0, (to?.position ?? 0) + (to?.bytes ?? 0)),
    ]);
  });

  it("may lack a block: zeros stand there after a power loss", async () => {
    const image = await written(3, 30);
    const bytes = Buffer.from(image.get(NAME) ?? "");
    const entries = entriesOf(bytes);
    const from = (entries[6]?.start ?? 0) + 40;
    bytes.fill(0, from, from + 512);
    const last = entries.findIndex(({ end }) => end >= from + 512);
    const { offsets, torn } = await opened(new Map(image).set(NAME, bytes));
    expect(torn).toMatchObject([{ line: 7, offset: 6, missing: last - 5 }]);
    expect(offsets).toEqual(without(33, ...without(last + 1).slice(6)));
  });

  it("may be damaged as a whole, and in its first line, and in its last", async () => {
    const image = await written(3, 4);
    const damaged = (...which: number[]) =>
      opened(withLines(image, (each) => each.map((t, n) => (which.includes(n) ? bad(t) : t))));
    const whole = await damaged(3, 4, 5, 6);
    expect([whole.torn, whole.offsets, whole.next]).toMatchObject([
      [{ line: 4, offset: 3, missing: 4 }],
      [0, 1, 2],
      3,
    ]);
    const first = await damaged(3);
    expect([first.torn, first.offsets, first.next]).toMatchObject([
      [{ line: 4, offset: 3, missing: 1 }],
      without(7, 3),
      7,
    ]);
    const last = await damaged(5, 6);
    expect([last.torn, last.offsets, last.next]).toMatchObject([
      [{ line: 6, offset: 5, missing: 2 }],
      without(5),
      5,
    ]);
  });

  it("may be garbage without a line feed", async () => {
    const garbage = Buffer.alloc(5000, "garbage ");
    const image = new Map(await written(3)).set(NAME, garbage);
    const { copies, next, torn } = await opened(image);
    expect(torn).toMatchObject([
      { line: 1, position: 0, bytes: 5000, offset: 0, missing: undefined },
    ]);
    expect(next).toBe(0);
    expect(copies).toEqual(new Map([[`torn/${NAME}-0.torn`, garbage]]));
  });

  it.each([
    ["lacks a line", (each: string[]) => each.toSpliced(6, 1), [6], { bytes: 0, missing: 1 }],
    [
      "has a line twice",
      (each: string[]) => each.toSpliced(6, 0, each[5] ?? ""),
      [],
      { missing: 0 },
    ],
    [
      "has a strange line",
      (each: string[]) => each.toSpliced(6, 0, "{}"),
      [],
      { bytes: 3, missing: 0 },
    ],
    [
      "has an empty line",
      (each: string[]) => each.toSpliced(6, 0, ""),
      [],
      { bytes: 1, missing: 0 },
    ],
    [
      "has lines of its end in the place of others",
      (each: string[]) => each.toSpliced(6, 3, ...each.slice(12, 15)),
      [6, 7, 8],
      { missing: 3 },
    ],
    [
      "has lines of its begin in the place of others",
      (each: string[]) => each.toSpliced(6, 2, ...each.slice(3, 5)),
      [6, 7],
      { missing: 2 },
    ],
  ])("that %s keeps all others", async (_, edit, gone, place) => {
    const { offsets, next, torn } = await opened(withLines(await written(2, 18), edit));
    expect(torn).toMatchObject([{ line: 7, offset: 6, ...place }]);
    expect([offsets, next]).toEqual([without(20, ...gone), 20]);
  });

  it("that lacks its end, cut between two lines, says so", async () => {
    const image = withLines(await written(2, 18), (each) => each.slice(0, 12));
    const { copies, next, torn } = await opened(image);
    const position = image.get(NAME)?.length;
    expect(torn).toEqual([
      { file: PATH, line: 13, position, bytes: 0, offset: 12, missing: undefined, copy: undefined },
    ]);
    expect([copies.size, next]).toEqual([0, 12]);
  });

  it("that is missing as a whole says so", async () => {
    const { torn } = await opened(withLines(await written(2, 3), (each) => each.slice(0, 2)));
    expect(torn).toMatchObject([{ line: 3, bytes: 0, offset: 2, missing: undefined }]);
  });

  it("does not excuse damage before it", async () => {
    const image = await written(3, 1, 3);
    for (const [edit, at, found] of [
      [(each: string[]) => each.with(1, bad(each[1] ?? "")), 1, "bytes with another checksum"],
      [(each: string[]) => each.with(3, bad(each[3] ?? "")), 3, "bytes with another checksum"],
      [(each: string[]) => each.toSpliced(2, 1), 2, "offset 3"],
      [
        (each: string[]) => each.toSpliced(2, 3, `${each[2]}${each[3]}`),
        2,
        "bytes with another checksum",
      ],
      [(each: string[]) => each.toSpliced(4, 0, "between"), 4, "bytes with another checksum"],
    ] as const) {
      expect(await refusal(withLines(image, edit))).toEqual({
        file: PATH,
        line: at + 1,
        expected: `the record of offset ${at}`,
        found,
      });
    }
  });
});

describe("a hole", () => {
  async function withHoles() {
    const image = withLines(await written(2, 20), (each) =>
      each.map((text, n) => ([4, 5, 6, 12].includes(n) ? bad(text) : text)),
    );
    const disk = await diskOf(image);
    return {
      disk,
      journal: await EventJournal.open(FOLDER, { ...options, fileLayer: disk.layer() }),
    };
  }

  it("is passed by those who read and follow, from wherever they begin", async () => {
    const { journal } = await withHoles();
    const there = without(22, 4, 5, 6, 12);
    for (let from = 0; from <= 22; from += 1) {
      const read = await all(journal.read(from));
      expect(read.map(({ offset }) => offset)).toEqual(there.filter((offset) => offset >= from));
    }
    const stop = new AbortController();
    const followed: number[] = [];
    for await (const batch of journal.follow(5, stop.signal)) {
      followed.push(...batch.map(({ offset }) => offset));
      if (followed.at(-1) === 21) await journal.append(lines(1));
      if (followed.at(-1) === 22) stop.abort();
    }
    expect(followed).toEqual([...there.filter((offset) => offset >= 5), 22]);
    await journal.checkpoint(13);
    expect(journal.position).toBe(13);
    await journal.close();
  });

  it("stays when the file is done with, and where reading begins by a search", async () => {
    const { disk, journal } = await withHoles();
    for (let n = 0; n < 30; n += 1) await journal.append(lines(1, "x".repeat(50_000)));
    await journal.close();
    const again = await EventJournal.open(FOLDER, { ...options, fileLayer: disk.layer() });
    expect(disk.names.filter((name) => name.includes("lines-")).length).toBeGreaterThan(1);
    expect(again.torn).toEqual([]);
    const there = without(52, 4, 5, 6, 12);
    for (let from = 0; from < 52; from += 3) {
      const read = await all(again.read(from));
      expect(read.map(({ offset }) => offset)).toEqual(there.filter((offset) => offset >= from));
    }
    await again.close();
  });

  it("may be behind another one, from a start before", async () => {
    const { disk, journal } = await withHoles();
    await journal.append(Array.from({ length: 3 }, (_, n) => line(`line ${22 + n}`)));
    const image = await imageOf(disk.layer(), disk.names);
    const at = linesOf(image).findIndex((each) => each.includes("line 23"));
    const damaged = withLines(image, (each) => each.with(at, bad(each[at] ?? "")));
    const { offsets, torn } = await opened(damaged);
    expect(torn).toMatchObject([{ line: at + 1, offset: 23, missing: 1 }]);
    expect(offsets).toEqual(without(25, 4, 5, 6, 12, 23));
    await journal.close();
  });
});

describe("a second crash", () => {
  it("leaves no half of a mended file behind", async () => {
    const image = new Map(await written(3)).set(`${NAME}.tmp`, Buffer.from("half"));
    const disk = await diskOf(image);
    const journal = await EventJournal.open(FOLDER, { fileLayer: disk.layer() });
    expect(disk.names).not.toContain(`${PATH}.tmp`);
    expect((await readAll(journal)).lines.size).toBe(3);
    await journal.close();
  });

  it("at any moment of mending leaves the old file or the new one, and each place named", async () => {
    for (const which of [
      [4, 9],
      [18, 19],
      [4, 19],
    ]) {
      const image = withLines(await written(2, 18), (each) =>
        each.map((text, n) => (which.includes(n) ? bad(text) : text)),
      );
      let losses = 0;
      for (let seed = 0; seed < 3; seed += 1) {
        for (let accesses = 1; ; accesses += 1) {
          const disk = await diskOf(image);
          const named = new Set<number>();
          const onTorn = (torn: readonly JournalTorn[]) => {
            for (const { offset } of torn) named.add(offset);
          };
          disk.losePowerAfter(accesses);
          const open = () => EventJournal.open(FOLDER, { fileLayer: disk.layer(), onTorn });
          const first = await open().catch((error: unknown) => error);
          disk.restart();
          if (first instanceof EventJournal) await first.close();
          else if (!(first instanceof PowerLoss)) throw first;
          const journal = await open();
          const { lines: read } = await readAll(journal);
          expect([...read.keys()]).toEqual(without(20, ...which));
          expect(named.has(which[0] ?? -1)).toBe(true);
          const drafts = disk.names.filter((name) => name.endsWith(".log.tmp"));
          expect(drafts).toEqual([]);
          await journal.close();
          if (first instanceof EventJournal) break;
          losses += 1;
        }
      }
      expect(losses).toBeGreaterThan(20);
    }
  });
});
