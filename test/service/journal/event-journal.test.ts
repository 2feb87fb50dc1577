import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { LogLine } from "../../../src/service/journal/log-line.ts";
import { waitFor } from "../../support/wait-for.ts";
import { all, brief, line, lines, temporaryFolder, texts } from "./support/lines.ts";

let folder: string;
let directory: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  directory = join(folder, "new", "journal");
});

afterEach(() => rm(folder, { recursive: true }));

async function segments(): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith("lines-")).sort();
}

describe("the journal", () => {
  it("gives lines back as they came, with their offsets, also after reopening", async () => {
    const journal = await EventJournal.open(directory);
    expect([journal.first, journal.next, journal.position, journal.bytes]).toEqual([0, 0, 0, 0]);
    const given = [
      line('{"type":"a"}'),
      line("", { tenant: undefined, dialect: undefined, trusted: true }),
      line('tab\there, "quotes", \r and é漢😀\u0000', { tenant: "ä\t\n", key: "k" }),
    ];
    const before = Date.now();
    expect(await journal.append(given)).toEqual({ first: 0, last: 2 });
    expect(await journal.append([line("x".repeat(700_000))])).toEqual({ first: 3, last: 3 });
    const read = await all(journal.read(0));
    for (const { arrivedMs } of read) {
      expect(arrivedMs).toBeGreaterThanOrEqual(before);
      expect(arrivedMs).toBeLessThanOrEqual(Date.now());
    }
    const expected = [...given, line("x".repeat(700_000))].map((each, offset) => ({
      ...each,
      offset,
      arrivedMs: read[offset]?.arrivedMs,
    }));
    expect(read).toEqual(expected);
    expect(brief(await all(journal.read(2))).length).toBe(2);
    expect(await all(journal.read(4))).toEqual([]);
    expect(await all(journal.read(400))).toEqual([]);
    await journal.close();

    const again = await EventJournal.open(directory);
    expect([again.first, again.next, again.torn]).toEqual([0, 4, []]);
    expect(await all(again.read(0))).toEqual(expected);
    expect(await again.append([line("more")])).toEqual({ first: 4, last: 4 });
    await again.close();
  });

  it("opens whatever the length of the last line of each file", async () => {
    for (const length of [65_000, 70_000, 1_000_000]) {
      const place = join(directory, String(length));
      const journal = await EventJournal.open(place, { segmentBytes: 1024 });
      for (let n = 0; n < 3; n += 1) await journal.append([line("s"), line("x".repeat(length))]);
      await journal.close();
      const again = await EventJournal.open(place);
      expect([again.next, again.torn]).toEqual([6, []]);
      expect((await texts(again)).map((text) => text.length)).toEqual([
        1,
        length,
        1,
        length,
        1,
        length,
      ]);
      await again.close();
    }
  });

  it("is the owner's alone", async () => {
    const journal = await EventJournal.open(directory);
    await journal.append(lines(1));
    await journal.checkpoint(1);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    for (const name of [...(await segments()), "checkpoint"]) {
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    }
    await journal.close();
  });

  it("takes lines of many at once, each call's together and in order", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 4096 });
    const calls = Array.from({ length: 50 }, (_, call) => lines(1 + (call % 4), `${call}-`));
    const appended = await Promise.all(calls.map((each) => journal.append(each)));
    let next = 0;
    for (const [call, { first, last }] of appended.entries()) {
      expect(first).toBe(next);
      next += calls[call]?.length ?? 0;
      expect(last).toBe(next - 1);
    }
    expect(await texts(journal)).toEqual(calls.flat().map(({ text }) => text));
    await journal.close();
  });

  it("refuses lines that it could not give back, and writes none of their call", async () => {
    const journal = await EventJournal.open(directory);
    await expect(journal.append([line("a"), line("b\nc")])).rejects.toThrow(
      new RangeError("lines[1].text: expected no line feed in it"),
    );
    await expect(journal.append([line("x".repeat(64 * 1024 * 1024 + 1))])).rejects.toThrow(
      "lines[0].text: expected at most 67108864 bytes",
    );
    await expect(journal.append([line("a", { key: "k".repeat(65_537) })])).rejects.toThrow(
      "lines[0].key: expected at most 65536 characters",
    );
    expect(await journal.append([])).toEqual({ first: 0, last: -1 });
    expect(journal.next).toBe(0);
    await journal.close();
  });

  it("refuses an append while too much waits", async () => {
    const journal = await EventJournal.open(directory, { maxPendingBytes: 1000 });
    const first = journal.append([line("x".repeat(2000))]);
    await expect(journal.append([line("y")])).rejects.toMatchObject({ code: "EBUSY" });
    await first;
    expect(await journal.append([line("y")])).toEqual({ first: 1, last: 1 });
    await journal.close();
  });

  it("is open once", async () => {
    const journal = await EventJournal.open(directory);
    await expect(EventJournal.open(directory)).rejects.toMatchObject({
      code: "ELOCKED",
      message: `${directory}: another process, or another log here, has it open`,
    });
    await journal.close();
    await journal.close();
    await expect(journal.append(lines(1))).rejects.toThrow("the journal is closed");
    await expect(journal.checkpoint(0)).rejects.toThrow("the journal is closed");
    await (await EventJournal.open(directory)).close();
  });

  it("writes what waits before it closes", async () => {
    const journal = await EventJournal.open(directory, { durability: "each" });
    const waiting = ["a", "b", "c"].map((text) => journal.append([line(text)]));
    const closed = journal.close();
    expect((await Promise.all(waiting)).map(({ first }) => first)).toEqual([0, 1, 2]);
    await closed;
    const again = await EventJournal.open(directory);
    expect(await texts(again)).toEqual(["a", "b", "c"]);
    await again.close();
  });

  it("gives a directory free that it could not open", async () => {
    await mkdir(directory, { recursive: true });
    const foreign = join(directory, "lines-0000000000000000.v2.log");
    await writeFile(foreign, "");
    await expect(EventJournal.open(directory)).rejects.toThrow(
      `${foreign}: expected a file ending`,
    );
    await rm(foreign);
    await (await EventJournal.open(directory)).close();
  });

  it("checks its options", async () => {
    const open = (options: object) => EventJournal.open(directory, options);
    await expect(open({ segmentBytes: 1023 })).rejects.toThrow("segmentBytes: expected");
    await expect(open({ keep: -1 })).rejects.toThrow("keep: expected");
    await expect(open({ maxPendingBytes: 0 })).rejects.toThrow("maxPendingBytes: expected");
    const journal = await open({});
    expect(() => journal.read(-1)).toThrow("from: expected");
    expect(() => journal.follow(0.5, new AbortController().signal)).toThrow("from: expected");
    await journal.close();
  });
});

describe("reading", () => {
  it("begins at any offset, whatever the sizes of lines and files", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 3_000_000 });
    const sizes = [10, 400_000, 90, 30, 150_000, 2000];
    for (let n = 0; n < 120; n += 1) {
      const text = `${n} ${"z".repeat(sizes[n % sizes.length] ?? 0)}`;
      await journal.append([line(text), ...lines(200, "small")]);
    }
    expect((await segments()).length).toBeGreaterThan(3);
    const whole = await all(journal.read(0));
    expect(whole.map(({ offset }) => offset)).toEqual(whole.map((_, index) => index));
    for (let from = 0; from < journal.next; from += 397) {
      let expected = from;
      for await (const { offset, text } of journal.read(from)) {
        expect(offset).toBe(expected);
        expect(text === whole[offset]?.text).toBe(true);
        expected += 1;
        if (expected > from + 3) break;
      }
    }
    await journal.close();
  });

  it("ends at what was on the disk when it was asked for", async () => {
    const journal = await EventJournal.open(directory);
    await journal.append(lines(3));
    const reading = journal.read(1);
    await journal.append(lines(5, "later"));
    expect(brief(await all(reading))).toEqual(["1 n1", "2 n2"]);
    await journal.close();
  });
});

describe("following", () => {
  it("gives what is there, then what comes, in bounded batches, across files", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 200_000 });
    await journal.append(lines(2500));
    const stop = new AbortController();
    const batches: (readonly LogLine[])[] = [];
    const following = (async () => {
      for await (const batch of journal.follow(7, stop.signal)) {
        batches.push(batch);
        if (batch.at(-1)?.text === "last") stop.abort();
      }
    })();
    await waitFor(() => expect(batches.flat().length).toBe(2493));
    for (let n = 0; n < 20; n += 1) await journal.append(lines(300, `${n} `));
    const large = "x".repeat(400_000);
    await journal.append(Array.from({ length: 8 }, () => line(large)));
    await journal.append([line("last")]);
    await following;
    const read = batches.flat();
    expect(brief(read)).toEqual(brief(await all(journal.read(7))));
    expect(read.length).toBe(2493 + 6000 + 9);
    for (const batch of batches) {
      expect(batch.length).toBeGreaterThan(0);
      expect(batch.length).toBeLessThanOrEqual(1000);
      const before = batch.slice(0, -1).reduce((sum, { text }) => sum + text.length, 0);
      expect(before).toBeLessThan(1024 * 1024);
    }
    await journal.close();
  });

  it("ends when it is aborted, before or while it waits, and when the journal is closed", async () => {
    const journal = await EventJournal.open(directory);
    await journal.append(lines(1));
    expect(await all(journal.follow(0, AbortSignal.abort()))).toEqual([]);
    const stop = new AbortController();
    const stopped = all(journal.follow(1, stop.signal));
    const ahead = all(journal.follow(90, new AbortController().signal));
    const seen: string[] = [];
    const closed = (async () => {
      for await (const batch of journal.follow(0, new AbortController().signal)) {
        seen.push(...brief(batch));
      }
    })();
    stop.abort();
    expect(await stopped).toEqual([]);
    await journal.append(lines(1, "second"));
    await waitFor(() => expect(seen).toEqual(["0 n0", "1 second0"]));
    await journal.close();
    await closed;
    expect(await ahead).toEqual([]);
  });

  it("lets many follow at once", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 1024 });
    const followers = Array.from({ length: 5 }, async (_, from) => {
      const stop = new AbortController();
      const seen: number[] = [];
      for await (const batch of journal.follow(from, stop.signal)) {
        seen.push(...batch.map(({ offset }) => offset));
        if (seen.at(-1) === 59) stop.abort();
      }
      return seen;
    });
    for (let n = 0; n < 30; n += 1) await journal.append(lines(2));
    for (const [from, seen] of (await Promise.all(followers)).entries()) {
      expect(seen).toEqual(Array.from({ length: 60 - from }, (_, index) => from + index));
    }
    await journal.close();
  });
});

describe("the checkpoint", () => {
  it("is there after reopening, and never moves back", async () => {
    const journal = await EventJournal.open(directory);
    await journal.append(lines(10));
    await journal.checkpoint(4);
    expect([journal.position, journal.stored]).toEqual([4, 4]);
    await Promise.all([journal.checkpoint(6, 9), journal.checkpoint(5)]);
    expect([journal.position, journal.stored]).toEqual([6, 9]);
    await expect(journal.checkpoint(11)).rejects.toThrow("position: expected at most 10, got 11");
    await expect(journal.checkpoint(7, 11)).rejects.toThrow("stored: expected at most 10");
    await expect(journal.checkpoint(-1)).rejects.toThrow("position: expected");
    await journal.close();
    const again = await EventJournal.open(directory);
    expect([again.position, again.stored]).toEqual([6, 9]);
    await again.checkpoint(8);
    expect([again.position, again.stored]).toEqual([8, 9]);
    await again.close();
  });

  it("lets go of files that lie wholly below what is kept, and of no other", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 1024, keep: 20 });
    for (let n = 0; n < 20; n += 1) await journal.append(lines(10, `${n} `));
    const before = await segments();
    const firsts = before.map((name) => Number(/\d+/.exec(name)?.[0]));
    expect(before.length).toBeGreaterThan(8);
    const bytes = journal.bytes;
    await journal.checkpoint(119);
    const kept = firsts.findLast((first) => first <= 99) ?? -1;
    expect(kept).toBeGreaterThan(20);
    expect(journal.first).toBe(kept);
    expect(await segments()).toEqual(before.slice(firsts.indexOf(kept)));
    expect(journal.bytes).toBeLessThan(bytes);
    expect(brief(await all(journal.read(0)))[0]).toMatch(new RegExp(`^${kept} `));
    await journal.checkpoint(200);
    expect(journal.first).toBe(firsts.findLast((first) => first <= 180));
    await journal.close();
    const again = await EventJournal.open(directory, { keep: 0 });
    await again.checkpoint(200);
    // The file that is written to stays.
    expect((await segments()).length).toBe(1);
    expect(await again.append(lines(1))).toEqual({ first: 200, last: 200 });
    await again.close();
  });

  it("says so when it has removed what somebody was reading", async () => {
    const journal = await EventJournal.open(directory, { segmentBytes: 1024, keep: 0 });
    for (let n = 0; n < 20; n += 1) await journal.append(lines(10));
    const reading = journal.read(0)[Symbol.asyncIterator]();
    await reading.next();
    await journal.checkpoint(200);
    const rest = async () => {
      while ((await reading.next()).done !== true);
    };
    await expect(rest()).rejects.toThrow(/^offset \d+: a checkpoint removed it/);
    await journal.close();
  });
});
