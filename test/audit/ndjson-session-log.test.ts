import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NdjsonSessionLogOptions } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import type { Recovery } from "../../src/audit/ndjson/open-log.ts";
import type { FileLayer } from "../../src/audit/storage/file-layer.ts";
import { nodeFileLayer } from "../../src/audit/storage/node-file-layer.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { crash } from "./support/crash.ts";
import { entries, entry, key, temporaryFolder } from "./support/entries.ts";

let folder: string;
const open: NdjsonSessionLog[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  await rm(folder, { recursive: true });
});

async function openLog(options: NdjsonSessionLogOptions = {}): Promise<NdjsonSessionLog> {
  const log = await NdjsonSessionLog.open(folder, options);
  open.push(log);
  return log;
}

function thread(n: number) {
  return { tenant_id: "acme", thread_id: `t${n}` };
}

async function files(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !/^(lock|sock)-/.test(name)).sort();
}

function segment(number: number): string {
  return join(folder, `segment-0000000${number}.ndjson`);
}

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, "utf8")).split("\n");
}

/** A layer that counts what is read. */
function countingLayer(): { layer: FileLayer; opened: string[] } {
  const opened: string[] = [];
  const openFile: FileLayer["open"] = async (path: string, mode: "create") => {
    opened.push(path.slice(path.lastIndexOf("/") + 1));
    return nodeFileLayer.open(path, mode);
  };
  return { layer: { ...nodeFileLayer, open: openFile }, opened };
}

describe("the files of a log", () => {
  it("are what the format says, line by line", async () => {
    const log = await openLog();
    const first = await log.append(key, [entry("a"), entry("b")]);
    await log.archiveBefore(key, 1);
    await log.append(key, []);
    await log.close();
    const lines = await linesOf(segment(1));
    const zeros = "0".repeat(64);
    expect(lines[0]).toBe(`{"segment":1,"version":2,"commit":0,"prev":"${zeros}"}`);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ ordinal: 2, hash: first.hash });
    const shapes = lines.map((line) => (line === "" ? "" : Object.keys(JSON.parse(line)).join()));
    const row =
      "tenant_id,thread_id,ordinal,prev,hash,run_id,event_id,trace_id,span_id,digest,event";
    expect(shapes).toEqual([
      "segment,version,commit,prev",
      row,
      row,
      "commit,rows,hash",
      "archived",
      "commit,rows,hash",
      "commit,rows,hash",
      "commit,rows,mark,hash",
      "",
    ]);
    expect(lines[3]).toMatch(/^{"commit":1,"rows":2,"hash":"[0-9a-f]{64}"}$/);
    expect(lines[4]).toMatch(
      /^{"archived":{"tenant_id":"acme","thread_id":"t1","watermark":1,"hash":"[0-9a-f]{64}"}}$/,
    );
    expect(lines[6]).toMatch(/^{"commit":3,"rows":0,"hash"/);
    expect(lines[7]).toMatch(/^{"commit":4,"rows":0,"mark":"closed","hash":"[0-9a-f]{64}"}$/);
    expect((await stat(segment(1))).mode & 0o777).toBe(0o600);
  });

  it("have one commit for the appends of one moment, and one each if asked", async () => {
    for (const [durability, commits] of [
      ["batch", 1],
      ["each", 8],
    ] as const) {
      await rm(folder, { recursive: true });
      const log = await openLog({ durability });
      await Promise.all(Array.from({ length: 8 }, (_, n) => log.append(thread(n), [entry("a")])));
      await log.close();
      const lines = await linesOf(segment(1));
      const made = lines.filter((line) => line.startsWith('{"commit"'));
      expect(made.filter((line) => !line.includes('"mark"'))).toHaveLength(commits);
    }
  });

  it("take no empty path for the working directory", async () => {
    const before = await readdir(".");
    await expect(NdjsonSessionLog.open("")).rejects.toThrow("got an empty path");
    expect(await readdir(".")).toEqual(before);
  });

  it("name the option that is out of range", async () => {
    await expect(openLog({ segmentBytes: 10 })).rejects.toThrow("segmentBytes: expected a whole");
    await expect(openLog({ eventIds: 0 })).rejects.toThrow("eventIds: expected a whole number");
    await expect(openLog({ heads: Number.NaN })).rejects.toThrow("heads: expected a whole number");
    await expect(openLog(Object({ durability: "maybe" }))).rejects.toThrow(
      "durability: expected none, batch or each, got maybe",
    );
  });
});

describe("segments", () => {
  it("are rotated by size, and every thread's chain goes on through them and a reopening", async () => {
    const options = { segmentBytes: 2048, heads: 2 };
    let log = await openLog(options);
    for (let round = 0; round < 6; round += 1) {
      for (let n = 0; n < 5; n += 1) await log.append(thread(n), [entry(`r${round}`)]);
      if (round === 3) {
        await log.close();
        log = await openLog(options);
        expect(log.recovery).toBeUndefined();
      }
    }
    const names = await files();
    expect(names.filter((name) => name.endsWith(".ndjson")).length).toBeGreaterThan(4);
    for (let n = 0; n < 5; n += 1) {
      const rows = await log.loadSince(thread(n), 0);
      expect(rows.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(rows.map(({ event }) => "name" in event && event.name)).toEqual([
        "r0",
        "r1",
        "r2",
        "r3",
        "r4",
        "r5",
      ]);
    }
    const report = await verifyLog(folder);
    expect(report).toMatchObject({ ok: true, rows: 30, threads: 5, uncommittedLines: 0 });
  });

  it("are not read for a thread that is new, nor where they do not hold the thread", async () => {
    const { layer, opened } = countingLayer();
    const options = { segmentBytes: 1024, heads: 1, files: layer };
    let log = await openLog(options);
    for (let n = 0; n < 12; n += 1) await log.append(thread(n), entries(2));
    await log.close();
    log = await openLog(options);
    opened.length = 0;
    expect((await log.append(thread(99), entries(1))).ordinal).toBe(1);
    expect(opened.filter((name) => name.endsWith(".index"))).toEqual([]);
    // A thread of an early segment costs its index and, to load it, that one segment.
    opened.length = 0;
    expect((await log.append(thread(0), entries(1))).ordinal).toBe(3);
    expect(opened.filter((name) => name.endsWith(".index"))).toEqual(["segment-00000001.index"]);
    opened.length = 0;
    expect(await log.loadSince(thread(3), 0)).toHaveLength(2);
    expect(opened.filter((name) => name.endsWith(".ndjson"))).toHaveLength(1);
  });

  it("keep the order of calls for a thread whose head is still being read", async () => {
    let log = await openLog({ segmentBytes: 1024 });
    await log.append(key, entries(3));
    for (let n = 2; n < 8; n += 1) await log.append(thread(n), entries(2));
    await log.close();
    log = await openLog({ segmentBytes: 1024 });
    const appended = [];
    for (let n = 0; n < 6; n += 1) {
      appended.push(log.append(key, [entry(`c${n}`, { event_id: `e${n % 5}` })]));
      appended.push(log.append(thread(50 + n), [entry("new")]));
      if (n === 3) await appended[0];
    }
    const places = await Promise.all(appended);
    expect(places.map(({ ordinal }) => ordinal)).toEqual([4, 1, 5, 1, 6, 1, 7, 1, 8, 1, 4, 1]);
    const rows = await log.loadSince(key, 3);
    expect(rows.map(({ event }) => "name" in event && event.name)).toEqual([
      "c0",
      "c1",
      "c2",
      "c3",
      "c4",
    ]);
    await log.close();
    expect((await verifyLog(folder)).ok).toBe(true);
  });

  it("get their index again when it is missing, torn or of other bytes", async () => {
    const options = { segmentBytes: 1024 };
    let log = await openLog(options);
    for (let n = 0; n < 9; n += 1) await log.append(thread(n), entries(2));
    await log.close();
    const before = new Map<string, string>();
    const indexes = (await files()).filter((name) => name.endsWith(".index"));
    expect(indexes.length).toBeGreaterThanOrEqual(4);
    for (const name of indexes) before.set(name, await readFile(join(folder, name), "utf8"));
    const [gone = "", torn = "", edited = "", stale = ""] = indexes;
    await rm(join(folder, gone));
    await truncate(join(folder, torn), 150);
    const text = before.get(edited) ?? "";
    await writeFile(join(folder, edited), text.replace('"last":2', '"last":7'));
    await writeFile(join(folder, stale), before.get(gone) ?? "");
    log = await openLog(options);
    for (const name of indexes) {
      expect(await readFile(join(folder, name), "utf8")).toBe(before.get(name));
    }
    for (let n = 0; n < 9; n += 1) {
      expect((await log.append(thread(n), entries(1))).ordinal).toBe(3);
    }
  });

  it("are read again when their index vanishes while the log is open", async () => {
    let log = await openLog({ segmentBytes: 1024 });
    for (let n = 0; n < 6; n += 1) await log.append(thread(n), entries(2));
    await log.close();
    log = await openLog({ segmentBytes: 1024 });
    await rm(join(folder, "segment-00000001.index"));
    expect((await log.append(thread(0), entries(1))).ordinal).toBe(3);
  });

  it("bring the event ids of the last rows back, from sealed ones too", async () => {
    const options = { segmentBytes: 1024, eventIds: 10 };
    let log = await openLog(options);
    const places = [];
    for (let n = 1; n <= 30; n += 1) {
      places.push(await log.append(key, [entry("x", { event_id: `e${n}` })]));
    }
    await log.close();
    log = await openLog(options);
    for (let n = 21; n <= 30; n += 1) {
      expect(await log.append(key, [entry("x", { event_id: `e${n}` })])).toEqual(places[n - 1]);
    }
    expect((await log.append(key, [entry("x", { event_id: "e1" })])).ordinal).toBe(31);
  });
});

describe("archiving", () => {
  it("moves a sealed segment once each of its rows is archived, and the chains go on", async () => {
    const options = { segmentBytes: 2048, heads: 1 };
    let log = await openLog(options);
    for (let n = 0; n < 8; n += 1) await log.append(thread(n), entries(3));
    const sealedFiles = (await files()).filter((name) => name.endsWith(".ndjson")).slice(0, -1);
    expect(sealedFiles.length).toBeGreaterThan(2);
    for (let n = 0; n < 7; n += 1) {
      expect(await log.archiveBefore(thread(n), 3)).toBe(3);
      if (n === 3) {
        await log.close();
        log = await openLog(options);
      }
    }
    const archived = await readdir(join(folder, "archive"));
    expect(archived.sort()).toEqual(sealedFiles.slice(0, archived.length));
    expect(archived.length).toBeGreaterThan(1);
    await log.close();
    log = await openLog(options);
    for (let n = 0; n < 8; n += 1) {
      expect(await log.loadSince(thread(n), 0)).toHaveLength(n === 7 ? 3 : 0);
      expect((await log.append(thread(n), entries(1))).ordinal).toBe(4);
    }
    await log.close();
    expect(await verifyLog(folder)).toMatchObject({ ok: true, rows: 32, threads: 8 });
    // The archive may be taken elsewhere: the indexes are enough to go on.
    await rm(join(folder, "archive"), { recursive: true });
    log = await openLog(options);
    for (let n = 0; n < 8; n += 1) {
      expect((await log.append(thread(n), entries(1))).ordinal).toBe(5);
      expect(await log.loadSince(thread(n), 3)).toHaveLength(2);
    }
  });

  it("keeps a segment with one row that is not archived", async () => {
    const log = await openLog({ segmentBytes: 2048 });
    await log.append(thread(1), entries(3));
    await log.append(thread(2), entries(3));
    await log.append(thread(3), entries(8));
    expect(await log.archiveBefore(thread(1), 3)).toBe(3);
    expect(await log.archiveBefore(thread(2), 2)).toBe(2);
    expect(await files()).not.toContain("archive");
    expect(await log.archiveBefore(thread(2), 3)).toBe(1);
    expect(await readdir(join(folder, "archive"))).toEqual(["segment-00000001.ndjson"]);
    expect(await log.loadSince(thread(3), 0)).toHaveLength(8);
  });

  it("counts right when appends and archive calls overlap", async () => {
    const log = await openLog({ segmentBytes: 1024 });
    const work: Promise<unknown>[] = [];
    const archived: Promise<number>[] = [];
    for (let n = 0; n < 40; n += 1) {
      work.push(log.append(thread(n % 4), entries(1)));
      archived.push(log.archiveBefore(thread(n % 4), Math.floor(n / 8)));
    }
    await Promise.all(work);
    const total = (await Promise.all(archived)).reduce((sum, each) => sum + each, 0);
    expect(total).toBe(16);
    for (let n = 0; n < 4; n += 1) {
      expect((await log.loadSince(thread(n), 0)).map(({ ordinal }) => ordinal)).toEqual([
        5, 6, 7, 8, 9, 10,
      ]);
      await log.archiveBefore(thread(n), 10);
    }
    const left = (await files()).filter((name) => name.endsWith(".ndjson"));
    expect(left).toHaveLength(1);
    await log.close();
    expect(await verifyLog(folder)).toMatchObject({ ok: true, rows: 40 });
  });
});

describe("reopening after a crash", () => {
  async function crashed(tail: string): Promise<Recovery | undefined> {
    const log = await openLog();
    await log.append(key, entries(3));
    await log.close();
    await crash(segment(1), tail);
    let told: Recovery | undefined;
    const reopened = await openLog({ onRecovered: (recovery) => (told = recovery) });
    expect(reopened.recovery).toEqual(told);
    return told;
  }

  /** The whole line of the row after `entries(3)`, as the log would have written it. */
  async function nextRow(): Promise<string> {
    const twin = await temporaryFolder();
    const log = await NdjsonSessionLog.open(twin);
    await log.append(key, entries(3));
    await log.append(key, [entry("n4")]);
    await log.close();
    const line = (await linesOf(join(twin, "segment-00000001.ndjson")))[5] ?? "";
    await rm(twin, { recursive: true });
    return line;
  }

  it("sets a torn end aside and cuts it off", async () => {
    const row = await nextRow();
    const half = row.slice(0, 100);
    const recovery = await crashed(half);
    const size = (await stat(segment(1))).size;
    expect(recovery).toEqual({
      file: "segment-00000001.ndjson",
      torn: {
        copy: join(folder, "torn", `segment-00000001.ndjson-${size}.torn`),
        offset: size,
        bytes: 100,
      },
      recoveredRows: 0,
      damage: [],
      missingSegments: [],
    });
    expect(await readFile(recovery?.torn?.copy ?? "", "utf8")).toBe(half);
    expect((await open[1]?.append(key, [entry("n4")]))?.ordinal).toBe(4);
    await open[1]?.close();
    expect(await verifyLog(folder)).toMatchObject({
      ok: true,
      rows: 4,
      tornFiles: [`segment-00000001.ndjson-${size}.torn`],
    });
  });

  it("keeps whole rows behind the last commit and covers them with a marked one", async () => {
    const row = await nextRow();
    const recovery = await crashed(`${row}\n{"commit":2,"ro`);
    expect(recovery).toMatchObject({ recoveredRows: 1, torn: { bytes: 15 } });
    expect(await open[1]?.loadSince(key, 3)).toHaveLength(1);
    expect((await linesOf(segment(1))).at(-2)).toMatch(
      /^{"commit":2,"rows":1,"recovered":true,"hash":"[0-9a-f]{64}"}$/,
    );
    expect(await verifyLog(folder)).toMatchObject({ ok: true, rows: 4, recoveredCommits: 1 });
  });

  it("takes a row without its newline for torn, zeros too", async () => {
    const row = await nextRow();
    expect(await crashed(row)).toMatchObject({ recoveredRows: 0, torn: { bytes: row.length } });
    await open[1]?.close();
    await appendFile(segment(1), Buffer.alloc(5000));
    const log = await openLog();
    expect(log.recovery).toMatchObject({ recoveredRows: 0, torn: { bytes: 5000 } });
    expect(await readdir(join(folder, "torn"))).toHaveLength(2);
  });

  it("never overwrites what was set aside before", async () => {
    const first = await crashed("first");
    const base = await readFile(segment(1), "utf8");
    await open[1]?.close();
    await writeFile(segment(1), `${base}other`);
    const second = (await openLog()).recovery;
    expect(second?.torn?.offset).toBe(first?.torn?.offset);
    expect(second?.torn?.copy).not.toBe(first?.torn?.copy);
    expect(await readFile(first?.torn?.copy ?? "", "utf8")).toBe("first");
    expect(await readFile(second?.torn?.copy ?? "", "utf8")).toBe("other");
  });

  it("leaves damage with valid lines behind it as it is, reports it and goes on", async () => {
    let log = await openLog();
    await log.append(key, entries(2));
    await log.append(key, entries(2, "m"));
    await log.append(thread(2), entries(1));
    await log.close();
    const lines = await linesOf(segment(1));
    lines[2] = (lines[2] ?? "").replace('"n2"', '"N2"');
    lines[4] = (lines[4] ?? "").replace('"run_id":"r1"', '"run_id":"r2"');
    lines[5] = (lines[5] ?? "").replace('"m2"', '"M2"');
    const text = lines.join("\n");
    await writeFile(segment(1), text);
    log = await openLog();
    const notItsEvent = "edited: the event is not the one the row's digest was made of";
    expect(log.recovery).toEqual({
      file: "segment-00000001.ndjson",
      recoveredRows: 0,
      damage: [
        { line: 3, problem: notItsEvent },
        { line: 5, problem: "edited: the row's hash is not that of its fields" },
        { line: 6, problem: notItsEvent },
        { line: 7, problem: "the lines before this commit are not those it was made over" },
      ],
      missingSegments: [],
    });
    expect(await readFile(segment(1), "utf8")).toBe(text);
    // The edited last row keeps its place: its hash still holds.
    expect((await log.append(key, entries(1))).ordinal).toBe(5);
    await expect(log.loadSince(key, 1)).rejects.toThrow(
      `segment-00000001.ndjson, line 3: ${notItsEvent}; verify the log`,
    );
    expect((await log.loadSince(key, 4)).map(({ ordinal }) => ordinal)).toEqual([5]);
  });

  it("never begins a chain again at a row that is there twice", async () => {
    let log = await openLog();
    await log.append(key, entries(3));
    await log.close();
    const lines = await linesOf(segment(1));
    lines.splice(4, 0, lines[1] ?? "");
    await writeFile(segment(1), lines.join("\n"));
    log = await openLog();
    expect((await log.append(key, entries(1))).ordinal).toBe(4);
  });

  it("reports an error of the one who is told of it, and is open", async () => {
    await expect(
      NdjsonSessionLog.open(folder, { onRecovered: () => {}, onError: () => {} }).then((log) =>
        log.close(),
      ),
    ).resolves.toBeUndefined();
    const notNow = new Error("not now");
    for (const onRecovered of [() => fails(notNow), async () => fails(notNow)]) {
      await appendFile(segment(1), "torn");
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      const log = await NdjsonSessionLog.open(folder, { onRecovered, onError });
      expect(log.recovery).toBeDefined();
      await log.append(key, entries(1));
      await log.close();
      expect(errors).toEqual([notNow]);
    }
    expect((await openLog()).recovery).toBeUndefined();
  });

  it("begins the segment again when the crash came while it was being made", async () => {
    let log = await openLog({ segmentBytes: 1024 });
    for (let n = 0; n < 4; n += 1) await log.append(key, entries(2));
    await log.close();
    const last = (await files()).filter((name) => name.endsWith(".ndjson")).length;
    await truncate(segment(last), 0);
    for (const left of ["", '{"segment":', "\u0000\u0000\u0000"]) {
      await writeFile(segment(last + 1), left);
      log = await openLog({ segmentBytes: 1024 });
      expect(log.recovery?.torn?.bytes ?? 0).toBe(left.length);
      expect(log.recovery?.missingSegments).toEqual([]);
      await log.close();
    }
    const report = await verifyLog(folder);
    // The emptied segment was not the crash's doing: it is found.
    expect(report.problems.map(({ file, problem }) => [file, problem])).toContainEqual([
      `segment-0000000${last}.ndjson`,
      "the segment is empty",
    ]);
  });

  it("tells of segments that are missing", async () => {
    let log = await openLog({ segmentBytes: 1024 });
    for (let n = 0; n < 8; n += 1) await log.append(key, entries(2));
    await log.close();
    await rm(segment(2));
    await rm(join(folder, "segment-00000002.index"));
    log = await openLog();
    expect(log.recovery).toMatchObject({ missingSegments: [2], recoveredRows: 0, damage: [] });
    expect((await log.append(key, entries(1))).ordinal).toBe(17);
  });

  it.each([1, 3])("refuses a log of version %i instead of taking it for torn", async (version) => {
    await mkdir(folder, { recursive: true });
    const text = `{"segment":1,"version":${version},"by":"another"}\n{"row":1}\n`;
    await writeFile(segment(1), text);
    const problem = `written by version ${version} of the format, expected 2`;
    await expect(openLog()).rejects.toThrow(`${segment(1)}: ${problem}`);
    expect(await readFile(segment(1), "utf8")).toBe(text);
  });
});

describe("closing", () => {
  it("writes what waits, and refuses what comes after", async () => {
    const log = await openLog();
    const appended = log.append(key, entries(2));
    const closed = log.close();
    expect((await appended).ordinal).toBe(2);
    await closed;
    await log.close();
    await expect(log.append(key, entries(1))).rejects.toThrow("audit log: it is closed");
    await expect(log.loadSince(key, 0)).rejects.toThrow("audit log: it is closed");
    await expect(log.archiveBefore(key, 1)).rejects.toThrow("audit log: it is closed");
  });

  it("waits for threads whose head is being read", async () => {
    let log = await openLog({ segmentBytes: 1024 });
    for (let n = 0; n < 6; n += 1) await log.append(thread(n), entries(2));
    await log.close();
    log = await openLog({ segmentBytes: 1024 });
    const appended = log.append(thread(0), entries(1));
    await log.close();
    expect((await appended).ordinal).toBe(3);
    expect((await verifyLog(folder)).rows).toBe(13);
  });

  it("is done by await using", async () => {
    {
      await using log = await NdjsonSessionLog.open(folder);
      await log.append(key, entries(1));
    }
    const log = await openLog();
    expect(await log.loadSince(key, 0)).toHaveLength(1);
  });
});

function fails(error: unknown): never {
  throw error;
}
