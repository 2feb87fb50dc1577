import { describe, expect, it } from "vitest";
import type { RowAnchor } from "../../src/audit/audit-row.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import type { Durability } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { failingDisk } from "./storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "./storage/support/memory-disk.ts";
import { entries, entry, key } from "./support/entries.ts";

async function setUp(durability: Durability = "batch", segmentBytes = 64 * 1024) {
  const disk = new MemoryDisk(seeded(1));
  const { faults, layer } = failingDisk(disk.layer());
  const log = await NdjsonSessionLog.open("/log", { files: layer, durability, segmentBytes });
  return { disk, faults, layer, log };
}

async function codes(promises: readonly Promise<RowAnchor>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((each) =>
    each.status === "fulfilled" ? each.value.ordinal : each.reason.code,
  );
}

const other = { ...key, thread_id: "t2" };

describe.each(["none", "batch", "each"] as const)("a full disk, durability %s", (durability) => {
  it("rejects what waits, leaves no row and no gap, and goes on once there is room", async () => {
    const { disk, faults, log } = await setUp(durability);
    const before = await log.append(key, entries(2));
    faults.room = 700;
    const waiting = [
      log.append(key, entries(1, "a")),
      log.append(other, entries(1, "b")),
      log.append(key, entries(5, "c")),
      log.archiveBefore(key, 3).then((ordinal) => ({ ordinal, hash: "" })),
    ];
    const results = await codes(waiting);
    expect(results.slice(durability === "each" ? 1 : 0, 3)).toEqual(
      durability === "each" ? ["ENOSPC", "ENOSPC"] : ["ENOSPC", "ENOSPC", "ENOSPC"],
    );
    const stored = durability === "each" ? 3 : 2;
    await expect(log.append(key, [])).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await log.loadSince(key, 0)).toHaveLength(stored);
    faults.room = Number.POSITIVE_INFINITY;
    expect((await log.append(key, [])).ordinal).toBe(stored);
    expect((await log.append(key, entries(1, "d"))).ordinal).toBe(stored + 1);
    expect((await log.append(other, entries(1, "e"))).ordinal).toBe(1);
    const rows = await log.loadSince(key, 0);
    expect(rows[1]).toMatchObject(before);
    await log.close();
    expect(await verifyLog("/log", { files: disk.layer() })).toMatchObject({
      ok: true,
      rows: stored + 2,
      uncommittedLines: 0,
      tornBytes: 0,
    });
  });

  it("takes a refused event again when it is sent again", async () => {
    const { faults, log } = await setUp(durability);
    faults.room = 100;
    const sent = entry("a", { event_id: "e1" });
    expect(await codes([log.append(key, [sent]), log.append(key, [sent])])).toEqual([
      "ENOSPC",
      "ENOSPC",
    ]);
    faults.room = Number.POSITIVE_INFINITY;
    expect(await codes([log.append(key, [sent]), log.append(key, [sent])])).toEqual([1, 1]);
    expect(await log.loadSince(key, 0)).toHaveLength(1);
  });
});

describe("a disk whose sync fails", () => {
  it("goes on in a new segment, since the old one cannot be trusted", async () => {
    const { disk, faults, log } = await setUp();
    await log.append(key, entries(2));
    faults.failingSyncs = 1;
    expect(await codes([log.append(key, entries(1, "a"))])).toEqual(["EIO"]);
    expect((await log.append(key, entries(1, "b"))).ordinal).toBe(3);
    expect(disk.names).toContain("/log/segment-00000002.ndjson");
    expect(await log.loadSince(key, 0)).toHaveLength(3);
    await log.close();
    const report = await verifyLog("/log", { files: disk.layer() });
    expect(report).toMatchObject({ ok: true, rows: 3, segments: 2 });
  });

  it("rejects and fails its probes until a sync works again", async () => {
    const { disk, faults, log } = await setUp();
    await log.append(key, entries(2));
    faults.failingSyncs = 4;
    // The write's own sync, then that of the new segment's header each time it is tried.
    expect(await codes([log.append(key, entries(1))])).toEqual(["EIO"]);
    expect(await codes([log.append(key, [])])).toEqual(["EIO"]);
    expect(await codes([log.append(key, entries(1))])).toEqual(["EIO"]);
    expect(faults.failingSyncs).toBe(0);
    expect(await codes([log.append(key, [])])).toEqual([2]);
    expect(await codes([log.append(key, entries(1))])).toEqual([3]);
    await log.close();
    expect(await verifyLog("/log", { files: disk.layer() })).toMatchObject({ ok: true, rows: 3 });
  });
});

describe("a disk that does not let itself be cut back", () => {
  it("takes nothing until it does, and no refused row ever comes back", async () => {
    const { disk, faults, log } = await setUp();
    await log.append(key, entries(2));
    faults.room = 2000;
    faults.failingTruncates = 3;
    expect(await codes([log.append(key, entries(9, "refused"))])).toEqual(["ENOSPC"]);
    faults.room = Number.POSITIVE_INFINITY;
    expect(await codes([log.append(key, [])])).toEqual(["EIO"]);
    expect(await codes([log.append(key, entries(1))])).toEqual(["EIO"]);
    expect(await codes([log.append(key, entries(1, "taken"))])).toEqual([3]);
    await log.close();
    const again = await NdjsonSessionLog.open("/log", { files: disk.layer() });
    const rows = await again.loadSince(key, 0);
    expect(rows.map(({ event }) => "name" in event && event.name)).toEqual(["n1", "n2", "taken1"]);
    expect(again.recovery).toBeUndefined();
  });
});

describe("a segment that cannot be replaced", () => {
  it("rejects until it can, and uses the file of the failed attempt", async () => {
    const { disk, faults, log } = await setUp("batch", 1024);
    expect((await log.append(key, entries(3))).ordinal).toBe(3);
    faults.failingCreates = 1;
    expect(await codes([log.append(key, entries(1))])).toEqual(["EMFILE"]);
    faults.room = 10;
    expect(await codes([log.append(key, entries(1))])).toEqual(["ENOSPC"]);
    faults.room = Number.POSITIVE_INFINITY;
    expect((await log.append(key, entries(1))).ordinal).toBe(4);
    await log.close();
    const report = await verifyLog("/log", { files: disk.layer() });
    expect(report).toMatchObject({ ok: true, rows: 4, segments: 2 });
  });

  it("loses nothing when only its index cannot be written", async () => {
    const disk = new MemoryDisk(seeded(1));
    const { faults, layer } = failingDisk(disk.layer());
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      errors.push(error);
      throw new Error("a bad listener");
    };
    const options = { files: layer, segmentBytes: 1024, onError };
    const log = await NdjsonSessionLog.open("/log", options);
    await log.append(key, entries(3));
    const create = layer.open;
    const unwilling = { ...layer, open: create };
    Object.assign(layer, {
      open: (path: string, mode: "create") =>
        path.endsWith(".index.tmp") ? Promise.reject(new Error("no index")) : create(path, mode),
    });
    expect((await log.append(other, entries(3))).ordinal).toBe(3);
    Object.assign(layer, unwilling);
    expect(errors).toEqual([new Error("no index")]);
    expect(await log.loadSince(key, 0)).toHaveLength(3);
    expect(faults.failingCreates).toBe(0);
    await log.close();
    const again = await NdjsonSessionLog.open("/log", options);
    expect((await again.append(key, entries(1))).ordinal).toBe(4);
  });
});

describe("a log that is behind", () => {
  it("refuses appends beyond its limit and takes them again when it has caught up", async () => {
    const disk = new MemoryDisk(seeded(1));
    const log = await NdjsonSessionLog.open("/log", { files: disk.layer(), maxPendingBytes: 3000 });
    const sent = Array.from({ length: 20 }, (_, n) => log.append(key, [entry(`n${n}`)]));
    const settled = await Promise.allSettled(sent);
    const taken = settled.filter(({ status }) => status === "fulfilled").length;
    expect(taken).toBe(7);
    for (const each of settled.slice(taken)) {
      expect(each).toMatchObject({
        reason: { message: expect.stringMatching(/maxPendingBytes is 3000/) },
      });
    }
    expect((await log.append(key, entries(1))).ordinal).toBe(8);
  });

  it("has the same limit after many writes", async () => {
    const disk = new MemoryDisk(seeded(1));
    const log = await NdjsonSessionLog.open("/log", { files: disk.layer(), maxPendingBytes: 3000 });
    for (let n = 0; n < 50; n += 1) await log.append(key, [entry(`w${n}`)]);
    const sent = Array.from({ length: 20 }, (_, n) => log.append(key, [entry(`n${n}`)]));
    const settled = await Promise.allSettled(sent);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
  });

  it("keeps little more than the rows of the calls that wait, durability each too", async () => {
    for (const durability of ["batch", "each"] as const) {
      const { log } = await setUp(durability);
      const before = process.memoryUsage().arrayBuffers;
      const sent = Array.from({ length: 500 }, (_, n) => log.append(key, [entry(`n${n}`)]));
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
      expect((await Promise.all(sent)).at(-1)?.ordinal).toBe(500);
    }
  });

  it("refuses an event too long to be read back, and nothing else", async () => {
    const disk = new MemoryDisk(seeded(1));
    const log = await NdjsonSessionLog.open("/log", { files: disk.layer() });
    const long = entry("x".repeat(33 * 1024 * 1024));
    await expect(log.append(key, [long])).rejects.toThrow(
      /^event: expected at most 33554432 bytes/,
    );
    // Bytes count, not characters, and of a value that no form knows as well.
    for (const foreign of [
      { foo: "é".repeat(17 * 1024 * 1024) },
      { foo: { bar: "x".repeat(33 * 1024 * 1024) } },
    ]) {
      const event = { kind: "own.large", ...foreign };
      await expect(log.append(key, [{ event }])).rejects.toThrow(/expected at most 33554432 bytes/);
      await expect(new MemorySessionLog().append(key, [{ event }])).rejects.toThrow(RangeError);
    }
    expect((await log.append(key, [entry("x".repeat(1024 * 1024))])).ordinal).toBe(1);
    expect((await log.loadSince(key, 0))[0]?.event_text.length).toBeGreaterThan(1024 * 1024);
  });
});
