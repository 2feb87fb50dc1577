import { describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../../src/audit/ndjson/ndjson-session-log.ts";
import type { RemovingFileLayer } from "../../../src/audit/storage/file-layer.ts";
import { writeFully } from "../../../src/audit/storage/file-writes.ts";
import { LockedDirectory } from "../../../src/audit/storage/locked-directory.ts";
import { verifyLog } from "../../../src/audit/verify/verify-log.ts";
import { entries, key } from "../support/entries.ts";
import { failingDisk } from "./support/failing-disk.ts";
import { MemoryDisk, seeded, sizeOf } from "./support/memory-disk.ts";

const RESERVE = 64 * 1024;

function setUp() {
  const disk = new MemoryDisk(seeded(1));
  const { faults, layer } = failingDisk(disk.layer());
  faults.cutsGiveRoom = true;
  return { disk, faults, layer };
}

/** Writes so many bytes into a new file, as opening a log may. */
async function write(files: RemovingFileLayer, path: string, bytes: number): Promise<void> {
  const file = await files.open(path, "create");
  await writeFully(file, Buffer.alloc(bytes), 0);
}

describe("the reserve of a log's directory", () => {
  it("is room for the next opening of a full disk, and is taken again", async () => {
    const { faults, layer } = setUp();
    for (const room of [Number.POSITIVE_INFINITY, 0, 0]) {
      faults.room = room;
      const directory = await LockedDirectory.lock(layer, "/log");
      await directory.whileOpening(async () => {
        if (room > 0) return;
        // All of it is given back, as a file that is written over.
        await write(layer, "/log/new", RESERVE);
        await (await layer.open("/log/new", "update"))?.truncate(0);
      });
      expect(await sizeOf(layer, "/log/lock-reserve")).toBe(RESERVE);
      await directory.release();
    }
  });

  it("is made as soon as there is room, where opening used it up", async () => {
    const { faults, layer } = setUp();
    const first = await LockedDirectory.lock(layer, "/log");
    await first.whileOpening(async () => {});
    await first.release();
    faults.room = 0;
    const directory = await LockedDirectory.lock(layer, "/log");
    await directory.whileOpening(() => write(layer, "/log/new", 100));
    // A part of it may do for the next start.
    expect([await sizeOf(layer, "/log/lock-reserve"), faults.room]).toEqual([RESERVE - 100, 0]);
    await directory.reserve();
    expect(await sizeOf(layer, "/log/lock-reserve")).toBe(RESERVE - 100);
    faults.room = 300;
    await directory.reserve();
    expect([await sizeOf(layer, "/log/lock-reserve"), faults.room]).toEqual([RESERVE, 200]);
    await directory.release();
  });

  it("stays where opening fails, and is not made in what may be no log's directory", async () => {
    const { layer } = setUp();
    const fails = async (folder: string) => {
      const directory = await LockedDirectory.lock(layer, folder);
      const opened = directory.whileOpening(() => Promise.reject(new Error("damaged")));
      await expect(opened).rejects.toThrow("damaged");
      await directory.release();
      return sizeOf(layer, `${folder}/lock-reserve`);
    };
    expect(await fails("/log")).toBeUndefined();
    const directory = await LockedDirectory.lock(layer, "/log");
    await directory.whileOpening(async () => {});
    await directory.release();
    expect(await fails("/log")).toBe(RESERVE);
  });
});

describe("a log on a full disk after a crash", () => {
  it("opens, and covers the rows whose commit had no room: an audit log", async () => {
    const { disk, layer } = setUp();
    const log = await NdjsonSessionLog.open("/log", { files: layer });
    await log.append(key, entries(3));
    const path = "/log/segment-00000001.ndjson";
    const size = (await sizeOf(layer, path)) ?? 0;
    // The last write lost its commit line: of the rows all are whole.
    const file = await layer.open(path, "update");
    const text = Buffer.alloc(size);
    await file?.read(text, 0);
    await file?.truncate(text.lastIndexOf("\n", size - 2) + 1);
    await file?.sync();
    disk.restart();
    const after = failingDisk(disk.layer());
    after.faults.cutsGiveRoom = true;
    after.faults.room = 0;
    const again = await NdjsonSessionLog.open("/log", { files: after.layer });
    expect(again.recovery?.recoveredRows).toBe(3);
    await expect(again.append(key, entries(1))).rejects.toMatchObject({ code: "ENOSPC" });
    after.faults.room = Number.POSITIVE_INFINITY;
    await again.append(key, entries(1, "b"));
    await again.close();
    expect(await sizeOf(disk.layer(), "/log/lock-reserve")).toBe(RESERVE);
    expect(await verifyLog("/log", { files: disk.layer() })).toMatchObject({ ok: true, rows: 4 });
  });
});
