import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { NdjsonSessionLogOptions } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import type { RemovingFileLayer } from "../../src/audit/storage/file-layer.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { IS_DEEP } from "../support/runs.ts";
import { failingDisk } from "./storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "./storage/support/memory-disk.ts";
import { bytesOf, writeBytes } from "./support/disk-files.ts";
import { entries, entry, key, temporaryFolder } from "./support/entries.ts";

const LOG = "/log";
const CLOSED = /^\{"commit":\d+,"rows":0,"mark":"closed","hash":"[0-9a-f]{64}"\}$/;

function path(segment: number): string {
  return `${LOG}/segment-0000000${segment}.ndjson`;
}

/** What a disk holds of a log: each segment's bytes, ascending. */
type Segments = readonly Buffer[];

/** Offsets behind the close marks of a segment. */
function closeMarks(segment: Buffer): number[] {
  const offsets: number[] = [];
  let end = 0;
  for (const line of segment.toString("latin1").split("\n")) {
    end += line.length + 1;
    if (CLOSED.test(line)) offsets.push(end);
  }
  return offsets;
}

/** Every offset of a segment. `npm test`: each third one, and all around the ends of lines. */
function cutsOf(segment: Buffer): number[] {
  const all = Array.from({ length: segment.length + 1 }, (_, offset) => offset);
  const isNearEnd = (offset: number) =>
    segment.subarray(Math.max(0, offset - 3), offset + 3).includes("\n");
  return all.filter((offset) => IS_DEEP || offset % 3 === 0 || isNearEnd(offset));
}

/** What a byte is changed by. `npm test` changes each byte by one of them. */
const BITS = [1, 3, 0x20];

async function segmentsOn(disk: MemoryDisk): Promise<Segments> {
  const names = disk.names.filter((name) => name.endsWith(".ndjson")).sort();
  return Promise.all(names.map((name) => bytesOf(disk.layer(), name)));
}

/** A disk with these segments and nothing else: no index is left to tell of a later one. */
async function diskWith(segments: Segments): Promise<MemoryDisk> {
  const disk = new MemoryDisk(seeded(1));
  for (const [index, bytes] of segments.entries()) {
    await writeBytes(disk.layer(), path(index + 1), bytes);
  }
  return disk;
}

async function endOf(disk: MemoryDisk): Promise<string> {
  const { end, ok } = await verifyLog(LOG, { files: disk.layer() });
  return ok ? `${end}` : "damaged";
}

/** Opens the log, writes one append after the other, and closes it or dies. */
async function session(
  disk: MemoryDisk,
  rows: readonly string[],
  ending: "close" | "kill",
  options: NdjsonSessionLogOptions = {},
): Promise<void> {
  const log = await NdjsonSessionLog.open(LOG, { files: disk.layer(), ...options });
  for (const row of rows) await log.append(key, [entry(row)]);
  if (ending === "close") await log.close();
  else disk.kill();
}

/** Sessions with every kind of end. */
async function sessions(options: NdjsonSessionLogOptions): Promise<MemoryDisk> {
  const disk = new MemoryDisk(seeded(5));
  await session(disk, ["a", "b"], "close", options);
  await session(disk, ["c"], "close", options);
  await session(disk, [], "close", options);
  await session(disk, ["d", "e"], "kill", options);
  await session(disk, ["f", "g", "h"], "close", options);
  return disk;
}

describe("a log that was closed", () => {
  it.each([
    ["one segment", {}],
    ["many segments", { segmentBytes: 1024 }],
  ])("seems so after a cut at no offset but behind a close mark: %s", async (_, options) => {
    const segments = await segmentsOn(await sessions(options));
    const marks = segments.flatMap((bytes, index) =>
      closeMarks(bytes).map((offset) => `${index + 1}:${offset}`),
    );
    expect(marks).toHaveLength(3);
    const seemsClosed: string[] = [];
    // Cutting also between any two segments: the newer ones are deleted.
    for (const [index, bytes] of segments.entries()) {
      for (const cut of cutsOf(bytes)) {
        const disk = await diskWith([...segments.slice(0, index), bytes.subarray(0, cut)]);
        const end = await endOf(disk);
        expect(["closed", "unclosed"], `${index + 1}:${cut}`).toContain(end);
        if (end === "closed") seemsClosed.push(`${index + 1}:${cut}`);
      }
    }
    expect(seemsClosed).toEqual(marks);
  });

  it("does not seem so when the segment behind a full one is deleted, also right behind a close mark", async () => {
    const disk = new MemoryDisk(seeded(1));
    await session(disk, ["a".repeat(1000)], "close", { segmentBytes: 1024 });
    const before = await segmentsOn(disk);
    expect(before.map(closeMarks)).toEqual([[before[0]?.length]]);
    await session(disk, ["b"], "close", { segmentBytes: 1024 });
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = await segmentsOn(disk);
    expect(await endOf(disk)).toBe("closed");
    expect(first.toString().trimEnd().split("\n").at(-1)).toContain('"mark":"open"');
    expect(await endOf(await diskWith([first]))).toBe("unclosed");
    expect(await endOf(await diskWith([first, Buffer.alloc(0)]))).toBe("unclosed");
    expect(await endOf(await diskWith([before[0] ?? first, Buffer.alloc(0)]))).toBe("unclosed");
    expect(await endOf(await diskWith([first, second.subarray(0, 20)]))).toBe("unclosed");
    expect(await endOf(await diskWith([Buffer.alloc(0), second]))).toBe("damaged");
  });

  it("does not seem so, or not intact, when files of it are taken away and others are left", async () => {
    const disk = await sessions({ segmentBytes: 1024 });
    const files = disk.layer();
    const count = (await segmentsOn(disk)).length;
    expect(count).toBeGreaterThan(3);
    await files.remove(path(count));
    expect(await endOf(disk)).toBe("unclosed");
    await files.rename(path(count - 1), `${LOG}/archive/segment-0000000${count - 1}.ndjson`);
    expect(await endOf(disk)).toBe("unclosed");
    for (let n = 1; n < count - 1; n += 1) await files.remove(path(n));
    expect(await endOf(disk)).toBe("damaged");
    await files.remove(`${LOG}/archive/segment-0000000${count - 1}.ndjson`);
    // The index of a newer segment is left.
    const [first = Buffer.alloc(0)] = await segmentsOn(await sessions({}));
    const closed = first.subarray(0, closeMarks(first)[0]);
    await writeBytes(files, path(1), closed);
    expect(await verifyLog(LOG, { files })).toMatchObject({ ok: false, end: "unclosed" });
    await files.remove(path(1));
    expect(disk.names.some((name) => name.endsWith(".index"))).toBe(true);
    expect(await endOf(disk)).toBe("damaged");
    expect(await endOf(await diskWith([]))).toBe("damaged");
  });

  it("can't be verified with a folder in place of its newest segment", async () => {
    const folder = await temporaryFolder();
    try {
      await (await NdjsonSessionLog.open(folder)).close();
      await rm(join(folder, "segment-00000001.ndjson"));
      await mkdir(join(folder, "segment-00000001.ndjson"));
      await expect(verifyLog(folder)).rejects.toThrow("expected a file, got a directory");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("does not seem so, or not intact, after a change of any byte", async () => {
    for (const segmentBytes of [1024, 100_000]) {
      const disk = new MemoryDisk(seeded(1));
      await session(disk, ["a", "b"], "close", { segmentBytes });
      await session(disk, ["c"], "close", { segmentBytes });
      const segments = await segmentsOn(disk);
      for (const [index, bytes] of segments.entries()) {
        for (let at = 0; at < bytes.length; at += 1) {
          for (const bits of IS_DEEP ? BITS : BITS.slice(at % 3, (at % 3) + 1)) {
            const changed = Buffer.from(bytes);
            changed[at] = (changed[at] ?? 0) ^ bits;
            const altered = await diskWith(segments.with(index, changed));
            const { end, ok } = await verifyLog(LOG, { files: altered.layer() });
            if (ok) expect(end, `${index + 1}:${at}`).toBe("unclosed");
          }
        }
      }
    }
  });

  it("is damaged when a header names another version", async () => {
    const [bytes = Buffer.alloc(0)] = await segmentsOn(await sessions({}));
    const old = bytes.toString().replace('"version":2', '"version":1');
    const lines = old.split("\n");
    for (let kept = 1; kept <= lines.length; kept += 1) {
      const disk = await diskWith([Buffer.from(`${lines.slice(0, kept).join("\n")}\n`)]);
      const { ok, problems } = await verifyLog(LOG, { files: disk.layer() });
      expect(ok, `${kept} lines`).toBe(false);
      expect(problems.map(({ line, problem }) => [line, problem])).toContainEqual([
        1,
        "written by version 1 of the format, expected 2",
      ]);
    }
    const segments = await segmentsOn(await sessions({ segmentBytes: 1024 }));
    const header = `${`${segments.at(-1)}`.split("\n")[0]}\n`.replace('"version":2', '"version":1');
    expect(await endOf(await diskWith(segments.with(-1, Buffer.from(header))))).toBe("damaged");
  });

  it("can't be made of one that was not by a word in a commit", async () => {
    const disk = new MemoryDisk(seeded(1));
    const log = await NdjsonSessionLog.open(LOG, { files: disk.layer() });
    await log.append(key, entries(1));
    await log.append(key, []);
    disk.kill();
    const [bytes = Buffer.alloc(0)] = await segmentsOn(disk);
    expect(await endOf(await diskWith([bytes]))).toBe("unclosed");
    const marked = bytes.toString().replace('"rows":0,', '"rows":0,"mark":"closed",');
    expect(marked).not.toBe(bytes.toString());
    expect(await endOf(await diskWith([Buffer.from(marked)]))).toBe("damaged");
  });

  it("is open again with a row that somebody put behind its close mark", async () => {
    const disk = new MemoryDisk(seeded(1));
    await session(disk, ["a"], "close");
    const [closed = Buffer.alloc(0)] = await segmentsOn(disk);
    await session(disk, ["b"], "close");
    const [longer = Buffer.alloc(0)] = await segmentsOn(disk);
    const row = longer
      .toString()
      .split("\n")
      .findLast((line) => line.startsWith('{"tenant_id"'));
    const added = await diskWith([Buffer.concat([closed, Buffer.from(`${row}\n`)])]);
    expect(await endOf(added)).toBe("unclosed");
    await session(added, [], "close");
    expect(await verifyLog(LOG, { files: added.layer() })).toMatchObject({
      ok: true,
      end: "closed",
      rows: 2,
    });
  });

  it("holds its marks apart from rows, for everything that reads it", async () => {
    const disk = await sessions({ segmentBytes: 1024 });
    const log = await NdjsonSessionLog.open(LOG, { files: disk.layer(), segmentBytes: 1024 });
    expect(log.recovery).toBeUndefined();
    const rows = await log.loadSince(key, 0);
    const names = rows.map(({ event }) => ("name" in event ? event.name : ""));
    expect(names.join("")).toBe("abcdefgh");
    expect(await log.archiveBefore(key, 8)).toBe(8);
    await log.close();
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({
      end: "closed",
      ok: true,
      rows: 8,
      unclosedReopenings: 1,
    });
  });
});

describe("opening and closing", () => {
  it("changes nothing as long as nothing is written", async () => {
    const disk = await sessions({});
    const before = await segmentsOn(disk);
    await session(disk, [], "close");
    await session(disk, [], "kill");
    expect(await segmentsOn(disk)).toEqual(before);
    expect(await endOf(disk)).toBe("closed");
  });

  it("writes one open and one close mark, however often it is closed", async () => {
    const disk = new MemoryDisk(seeded(1));
    await session(disk, [], "close");
    const log = await NdjsonSessionLog.open(LOG, { files: disk.layer() });
    await log.append(key, []);
    await log.append(key, entries(2));
    await Promise.all([log.close(), log.close()]);
    await log.close();
    const [bytes = Buffer.alloc(0)] = await segmentsOn(disk);
    const marks = [...bytes.toString().matchAll(/"mark":"([a-z]+)"/g)].map(([, mark]) => mark);
    expect(marks).toEqual(["closed", "open", "closed"]);
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({
      end: "closed",
      rows: 2,
      commits: 2,
    });
  });

  it("closes a log that its last writer left open, and says how often that was", async () => {
    const disk = new MemoryDisk(seeded(1));
    for (const row of ["a", "b", "c"]) {
      await session(disk, [row], "kill");
      expect(await endOf(disk)).toBe("unclosed");
    }
    await session(disk, [], "close");
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({
      ok: true,
      end: "closed",
      unclosedReopenings: 3,
    });
  });
});

describe("a close mark that cannot be written", () => {
  async function full() {
    const disk = new MemoryDisk(seeded(1));
    const { faults, layer } = failingDisk(disk.layer());
    const log = await NdjsonSessionLog.open(LOG, { files: layer, segmentBytes: 2048 });
    return { disk, faults, layer, log };
  }

  it("rejects the close of the log on a full disk; the log opens again, and closes then", async () => {
    const { disk, faults, layer, log } = await full();
    await log.append(key, entries(2));
    faults.room = 0;
    await expect(log.close()).rejects.toThrow(
      /^\/log: the log is closed, but its close mark could not be written: ENOSPC: .* No stored row is lost/,
    );
    await expect(log.append(key, [])).rejects.toThrow("it is closed");
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({
      end: "unclosed",
      ok: true,
      rows: 2,
      tornBytes: 0,
    });
    // Neither opening nor closing needs room as long as nothing can be written.
    const again = await NdjsonSessionLog.open(LOG, { files: layer });
    expect(again.recovery).toBeUndefined();
    await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(again.close()).rejects.toThrow("close mark");
    faults.room = Number.POSITIVE_INFINITY;
    await session(disk, [], "close");
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({ end: "closed", rows: 2 });
  });

  it("is written in the next segment where a sync of this one failed before", async () => {
    const { disk, faults, log } = await full();
    await log.append(key, entries(2));
    faults.failingSyncs = 2;
    await expect(log.append(key, entries(1))).rejects.toMatchObject({ code: "EIO" });
    await log.close();
    expect(await segmentsOn(disk)).toHaveLength(2);
    expect(await endOf(disk)).toBe("closed");
  });

  it("rejects when its own sync fails", async () => {
    const { disk, faults, log } = await full();
    await log.append(key, entries(2));
    faults.failingSyncs = 1;
    await expect(log.close()).rejects.toThrow("close mark could not be written: EIO");
    expect(await endOf(disk)).toBe("unclosed");
    await session(disk, ["c"], "close");
    expect(await endOf(disk)).toBe("closed");
  });

  it("is not needed in a log that was closed and took nothing since", async () => {
    const { disk, faults, layer, log } = await full();
    await log.append(key, entries(2));
    await log.close();
    faults.room = 0;
    const again = await NdjsonSessionLog.open(LOG, { files: layer });
    await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "ENOSPC" });
    await again.close();
    expect(await endOf(disk)).toBe("closed");
  });

  it("stands behind the segment whose making failed half way", async () => {
    for (const closedBefore of [true, false]) {
      const { disk, log } = await full();
      await log.append(key, [entry("x".repeat(3000))]);
      if (closedBefore) await log.close();
      else disk.kill();
      const { faults, layer } = failingDisk(disk.layer());
      const again = await NdjsonSessionLog.open(LOG, { files: layer, segmentBytes: 2048 });
      // The open mark fits, and a part of the next segment's header.
      faults.room = 150;
      await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "ENOSPC" });
      expect(disk.names).toContain(path(2));
      faults.room = Number.POSITIVE_INFINITY;
      await again.close();
      expect(await endOf(disk)).toBe("closed");
    }
  });

  it("is not behind a close mark that the next opening could not take back", async () => {
    const { disk, faults, layer, log } = await full();
    await log.append(key, entries(1));
    await log.close();
    const again = await NdjsonSessionLog.open(LOG, { files: layer });
    // The open mark, the header of the segment that is to take its place, the repair of the next try.
    faults.failingSyncs = 3;
    await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "EIO" });
    await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "EIO" });
    expect(await endOf(disk)).toBe("open");
    faults.failingSyncs = 0;
    await again.close();
    expect(await endOf(disk)).toBe("closed");
    expect(await segmentsOn(disk)).toHaveLength(2);
  });
});

describe("verifying beside the writer", () => {
  /**
   * The disk as seen by a verification during which something happens: before the lock is looked at for the n-th time.
   */
  function during(disk: MemoryDisk, happens: (look: number) => Promise<unknown>) {
    let looks = 0;
    const files: RemovingFileLayer = {
      ...disk.layer(),
      async lockHolder(directory) {
        looks += 1;
        await happens(looks);
        return disk.layer().lockHolder(directory);
      },
    };
    return verifyLog(LOG, { files });
  }

  async function opened(segmentBytes = 100_000) {
    const disk = new MemoryDisk(seeded(1));
    const log = await NdjsonSessionLog.open(LOG, { files: disk.layer(), segmentBytes });
    await log.append(key, entries(2));
    return { disk, log };
  }

  it("says that it is open while it is, and closed where nothing was written since", async () => {
    const { disk, log } = await opened();
    expect(await endOf(disk)).toBe("open");
    await log.close();
    const again = await NdjsonSessionLog.open(LOG, { files: disk.layer() });
    expect(await endOf(disk)).toBe("closed");
    await again.append(key, []);
    expect(await endOf(disk)).toBe("open");
  });

  it("reads on when the log was closed meanwhile, through as many segments as were begun", async () => {
    for (const segmentBytes of [1024, 100_000]) {
      const { disk, log } = await opened(segmentBytes);
      const report = await during(disk, async (look) => {
        if (look > 1) return;
        for (const row of ["c", "d", "e", "f"]) await log.append(key, [entry(row.repeat(400))]);
        await log.close();
      });
      expect(report).toMatchObject({
        ok: true,
        end: "closed",
        rows: 6,
        segments: segmentBytes < 2000 ? 5 : 1,
      });
    }
  });

  it("reads on behind rows without their commit and a torn line that a recovery took care of", async () => {
    const { disk, log } = await opened();
    await log.append(key, entries(1, "c"));
    disk.kill();
    const bytes = await bytesOf(disk.layer(), path(1));
    const commit = bytes.lastIndexOf('{"commit"');
    await writeBytes(
      disk.layer(),
      path(1),
      Buffer.concat([bytes.subarray(0, commit), Buffer.from('{"ten')]),
    );
    expect(await verifyLog(LOG, { files: disk.layer() })).toMatchObject({
      ok: true,
      end: "unclosed",
      uncommittedLines: 1,
      tornBytes: 5,
    });
    const report = await during(disk, async (look) => {
      if (look === 1) await session(disk, ["d"], "close");
    });
    expect(report).toMatchObject({
      ok: true,
      end: "closed",
      rows: 4,
      recoveredCommits: 1,
      unclosedReopenings: 1,
      uncommittedLines: 0,
      tornBytes: 0,
    });
  });

  it("says that it is open when another writer opens it meanwhile", async () => {
    const { disk } = await opened();
    disk.kill();
    const report = await during(disk, async (look) => {
      if (look > 1) return;
      const log = await NdjsonSessionLog.open(LOG, { files: disk.layer() });
      await log.append(key, entries(1));
    });
    expect(report).toMatchObject({ ok: true, end: "open" });
  });

  it("finds no rows missing that a failed write took back meanwhile", async () => {
    const { disk } = await opened();
    disk.kill();
    const bytes = await bytesOf(disk.layer(), path(1));
    await writeBytes(disk.layer(), path(1), Buffer.concat([bytes, Buffer.from("torn")]));
    const report = await during(disk, () => writeBytes(disk.layer(), path(1), bytes));
    expect(report).toMatchObject({ ok: true, end: "unclosed", tornBytes: 0 });
  });

  it("says unknown where it cannot ask, and open of a log that grows all the while", async () => {
    const { disk, log } = await opened();
    const blind = (holder: "none" | "unknown", grow: boolean): RemovingFileLayer => ({
      ...disk.layer(),
      async lockHolder() {
        if (grow) await log.append(key, entries(1));
        return holder;
      },
    });
    for (const [holder, grow, end] of [
      ["unknown", false, "unknown"],
      ["none", false, "unclosed"],
      ["unknown", true, "open"],
      ["none", true, "open"],
    ] as const) {
      expect(await verifyLog(LOG, { files: blind(holder, grow) })).toMatchObject({ ok: true, end });
    }
  });
});
