import { describe, expect, it } from "vitest";
import { numbersOf, SegmentedLog } from "../../../src/audit/storage/segmented-log.ts";
import { failingDisk } from "./support/failing-disk.ts";
import { MemoryDisk, seeded } from "./support/memory-disk.ts";

/** A log whose segments begin with `<number>!`; what is appended replaces the exclamation mark. */
async function openLog(segmentBytes = 1000) {
  const { faults, layer: files } = failingDisk(new MemoryDisk(seeded(1)).layer());
  await files.makeDirectory("/log");
  const started: number[] = [];
  const nextStart = () => ({
    path: `/log/part-${started.length + 2}.log`,
    bytes: Buffer.from(`${started.length + 2}!`),
    trailing: 1,
  });
  const format = { nextStart, started: (bytes: number) => void started.push(bytes) };
  const options = { files, directory: "/log", durable: true, segmentBytes, format };
  const log = new SegmentedLog(await files.open("/log/part-1.log", "create"), 0, options);
  const append = async (text: string, trailing = 0) => {
    await log.makeReady();
    if (log.isFull) await log.startNext();
    await log.append([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))], trailing);
  };
  const content = async (part: number) => {
    const file = await files.open(`/log/part-${part}.log`, "read");
    if (file === undefined) return undefined;
    const into = Buffer.alloc(await file.size());
    await file.read(into, 0);
    await file.close();
    return into.toString();
  };
  return { append, content, faults, log, started };
}

describe("SegmentedLog", () => {
  it("replaces what the append before left trailing, and begins the next segment when one is full", async () => {
    const { append, content, log, started } = await openLog(6);
    await append("abc!", 1);
    expect(log.size).toBe(3);
    await append("def!", 1);
    expect(await content(1)).toBe("abcdef!");
    await append("ghi");
    expect(started).toEqual([6]);
    expect(await content(2)).toBe("2ghi");
    await log.close();
  });

  it("cuts off what a failed write has left, and goes on in the same segment", async () => {
    const { append, content, faults, log, started } = await openLog();
    await append("abc");
    faults.room = 3;
    await expect(append("defgh")).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await content(1)).toBe("abcdef");
    faults.room = 100;
    await append("xyz");
    expect(await content(1)).toBe("abcxyz");
    expect(started).toEqual([]);
    await log.close();
  });

  it("writes nothing more to a file of which a sync failed", async () => {
    const { append, content, faults, log, started } = await openLog();
    await append("abc");
    faults.failingSyncs = 1;
    await expect(append("def")).rejects.toMatchObject({ code: "EIO" });
    faults.failingCreates = 1;
    await expect(append("def")).rejects.toThrow();
    expect(log.nextBegun).toBe(false);
    await append("xyz");
    expect(await content(1)).toBe("abc");
    expect(await content(2)).toBe("2xyz");
    expect(started).toEqual([3]);
    await log.close();
  });

  it("ends with the next segment, though its start could not be written yet", async () => {
    const { append, content, faults, log, started } = await openLog(3);
    await append("abc");
    faults.room = 0;
    await expect(append("def")).rejects.toMatchObject({ code: "ENOSPC" });
    expect(log.nextBegun).toBe(true);
    faults.room = 100;
    await log.makeReady();
    expect([log.nextBegun, started, await content(2)]).toEqual([false, [3], "2!"]);
    await log.close();
  });

  it("cuts off at the close what a failure has left", async () => {
    const { append, content, faults, log } = await openLog();
    await append("abc");
    faults.room = 1;
    await expect(append("def")).rejects.toMatchObject({ code: "ENOSPC" });
    await log.close();
    expect(await content(1)).toBe("abc");
  });
});

describe("numbersOf", () => {
  it("takes the names that a number makes, ascending", () => {
    const nameOf = (number: number) => `part-${String(number).padStart(3, "0")}.log`;
    const names = ["part-010.log", "part-2.log", "part-002.log", "part-1000.log", "part-x.log"];
    expect(numbersOf(names, nameOf)).toEqual([2, 10, 1000]);
  });
});
