import { describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { NewLine } from "../../../src/service/journal/log-line.ts";
import { failingDisk } from "../../audit/storage/support/failing-disk.ts";
import { MemoryDisk, seeded, sizeOf } from "../../audit/storage/support/memory-disk.ts";
import { all, brief, line, lines, texts } from "./support/lines.ts";

async function setUp(durability: "batch" | "each" = "batch", segmentBytes = 64 * 1024) {
  const disk = new MemoryDisk(seeded(1));
  const { faults, layer } = failingDisk(disk.layer());
  const options = { fileLayer: layer, durability, segmentBytes, keep: 0 };
  return { disk, faults, options, journal: await EventJournal.open("/log", options) };
}

/** The first offset of each call, or why it was refused. */
async function outcomes(journal: EventJournal, calls: readonly (readonly NewLine[])[]) {
  const settled = await Promise.allSettled(calls.map((each) => journal.append(each)));
  return settled.map((each) => (each.status === "fulfilled" ? each.value.first : each.reason.code));
}

describe.each(["batch", "each"] as const)("a full disk, durability %s", (durability) => {
  it("refuses what has no room, leaves nothing of it, and goes on once there is room", async () => {
    const { disk, faults, journal, options } = await setUp(durability);
    await journal.append(lines(2, "before"));
    const size = journal.bytes;
    faults.room = 400;
    const calls = [lines(1, "a"), lines(9, "b"), lines(1, "c")];
    const expected =
      durability === "each" ? [2, "ENOSPC", "ENOSPC"] : ["ENOSPC", "ENOSPC", "ENOSPC"];
    expect(await outcomes(journal, calls)).toEqual(expected);
    const stored = durability === "each" ? 3 : 2;
    expect(journal.next).toBe(stored);
    expect(journal.bytes >= size).toBe(true);
    expect(await all(journal.read(0))).toHaveLength(stored);
    faults.room = Number.POSITIVE_INFINITY;
    expect(await outcomes(journal, [lines(1, "d"), lines(1, "e")])).toEqual([stored, stored + 1]);
    await journal.checkpoint(1);
    const read = brief(await all(journal.read(0)));
    await journal.close();
    // No half record was left behind, also not for a program that opens it after a crash.
    disk.restart();
    const again = await EventJournal.open("/log", { ...options, fileLayer: disk.layer() });
    expect([again.torn, again.position]).toEqual([[], 1]);
    expect(brief(await all(again.read(0)))).toEqual(read);
    expect(read.at(-1)).toBe(`${stored + 1} e0`);
    await again.close();
  });
});

describe("a full disk", () => {
  it("does not keep the journal from giving room free: a checkpoint has its room beforehand", async () => {
    const { disk, faults, journal, options } = await setUp("batch", 1024);
    for (let n = 0; n < 4; n += 1) await journal.append(lines(12, `${n} `));
    expect(disk.names.filter((name) => name.includes("lines-"))).toHaveLength(4);
    faults.room = 0;
    await expect(journal.append(lines(1))).rejects.toMatchObject({ code: "ENOSPC" });
    await journal.checkpoint(20);
    expect([journal.position, journal.first]).toEqual([20, 12]);
    // The one that was replaced made room for the next.
    faults.room = 256;
    await journal.checkpoint(21);
    faults.room = 0;
    await journal.checkpoint(40);
    expect([journal.position, journal.first]).toEqual([40, 36]);
    await journal.close();
    disk.restart();
    const again = await EventJournal.open("/log", { ...options, fileLayer: disk.layer() });
    expect([again.position, again.first, again.next]).toEqual([40, 36, 48]);
    await again.close();
  });

  it("with no room for that either: a checkpoint fails, and works once there is room", async () => {
    const { faults, layer } = failingDisk(new MemoryDisk(seeded(1)).layer());
    faults.room = 0;
    const journal = await EventJournal.open("/log", { fileLayer: layer, keep: 0 });
    faults.room = 500;
    await journal.append(lines(2));
    faults.room = 0;
    await expect(journal.checkpoint(1)).rejects.toMatchObject({ code: "ENOSPC" });
    expect(journal.position).toBe(0);
    faults.room = Number.POSITIVE_INFINITY;
    await journal.checkpoint(1);
    expect(journal.position).toBe(1);
    await journal.close();
  });
});

describe("a disk that fails", () => {
  it("is not trusted with a file of which a sync failed: the next lines go into a new one", async () => {
    const { disk, faults, journal } = await setUp();
    await journal.append(lines(3));
    faults.failingSyncs = 1;
    await expect(journal.append(lines(2, "refused"))).rejects.toMatchObject({ code: "EIO" });
    expect(await journal.append(lines(1, "after"))).toEqual({ first: 3, last: 3 });
    expect(disk.names.filter((name) => name.includes("lines-"))).toHaveLength(2);
    expect(await texts(journal)).toEqual(["n0", "n1", "n2", "after0"]);
    await journal.close();
  });

  it("goes on in the same empty file when its first sync failed", async () => {
    const { disk, faults, journal } = await setUp();
    faults.failingSyncs = 1;
    await expect(journal.append(lines(2, "refused"))).rejects.toMatchObject({ code: "EIO" });
    expect(await journal.append(lines(1, "after"))).toEqual({ first: 0, last: 0 });
    expect(await journal.append(lines(1, "more"))).toEqual({ first: 1, last: 1 });
    expect(disk.names.filter((name) => name.includes("lines-"))).toHaveLength(1);
    expect(await texts(journal)).toEqual(["after0", "more0"]);
    await journal.close();
  });

  it("may fail in every repair too: nothing refused is ever read, nor in the way later", async () => {
    const { disk, faults, journal, options } = await setUp();
    await journal.append(lines(2));
    faults.failingSyncs = 1;
    faults.failingTruncates = 3;
    faults.failingCreates = 1;
    const refused: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const [outcome] = await outcomes(journal, [lines(2, `${n} `)]);
      if (typeof outcome === "string") refused.push(outcome);
      expect((await texts(journal)).length).toBe(journal.next);
    }
    expect(refused).toEqual(["EIO", "EIO", "EIO", "EMFILE"]);
    expect(await texts(journal)).toEqual(["n0", "n1", "4 0", "4 1"]);
    await journal.close();
    const again = await EventJournal.open("/log", options);
    expect(await texts(again)).toEqual(["n0", "n1", "4 0", "4 1"]);
    expect(again.torn).toEqual([]);
    await again.close();
    expect(disk.names.filter((name) => name.includes("lines-"))).toHaveLength(2);
  });

  it("brings refused lines back in an old file: they are cut off, not taken for damage", async () => {
    const { disk, faults, journal, options } = await setUp();
    await journal.append(lines(2));
    faults.failingSyncs = 1;
    faults.failingTruncates = 1;
    const end = journal.bytes;
    await expect(journal.append(lines(3, "refused"))).rejects.toMatchObject({ code: "EIO" });
    faults.failingTruncates = 0;
    const [path = ""] = disk.names.filter((name) => name.includes("lines-"));
    const file = await disk.layer().open(path, "read");
    const ghost = Buffer.alloc(2000);
    const bytes = ghost.subarray(0, (await file?.read(ghost, 0)) ?? 0);
    expect(bytes.length).toBeGreaterThan(end);
    await journal.append([line("after")]);
    await journal.close();
    // As if the cut had never reached the disk.
    await (await disk.layer().open(path, "update"))?.write(bytes, 0);
    const again = await EventJournal.open("/log", options);
    const cut = { file: path, line: 3, position: end, bytes: bytes.length - end, missing: 0 };
    expect(again.torn).toMatchObject([cut]);
    expect(brief(await all(again.read(0)))).toEqual(["0 n0", "1 n1", "2 after"]);
    await again.close();
  });

  it("keeps a follower waiting, not failing", async () => {
    const { faults, journal } = await setUp();
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const batch of journal.follow(0, stop.signal)) {
        if (batch.at(-1)?.text === "end0") stop.abort();
        seen.push(...batch.map(({ text }) => text));
      }
    })();
    await journal.append(lines(1, "a"));
    faults.room = 100;
    await expect(journal.append(lines(5, "b"))).rejects.toMatchObject({ code: "ENOSPC" });
    faults.room = Number.POSITIVE_INFINITY;
    faults.failingSyncs = 1;
    await expect(journal.append(lines(5, "c"))).rejects.toMatchObject({ code: "EIO" });
    await journal.append(lines(1, "d"));
    await journal.append(lines(1, "end"));
    await following;
    expect(seen).toEqual(["a0", "d0", "end0"]);
    await journal.close();
  });
});

it("a journal that has no room for a checkpoint opens on a full disk, and gets it", async () => {
  const disk = new MemoryDisk(seeded(1));
  const { layer } = failingDisk(disk.layer());
  const journal = await EventJournal.open("/log", { fileLayer: layer });
  await journal.append(lines(3));
  await layer.remove("/log/checkpoint.tmp");
  await layer.syncDirectory("/log");
  disk.restart();
  const after = failingDisk(disk.layer());
  after.faults.cutsGiveRoom = true;
  after.faults.room = 0;
  const again = await EventJournal.open("/log", { fileLayer: after.layer, keep: 0 });
  expect(again.next).toBe(3);
  after.faults.room = 0;
  await again.checkpoint(2);
  expect(again.position).toBe(2);
  after.faults.room = Number.POSITIVE_INFINITY;
  await again.checkpoint(3);
  expect(await sizeOf(disk.layer(), "/log/lock-reserve")).toBe(64 * 1024);
  await again.close();
});
