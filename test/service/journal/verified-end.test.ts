import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FileLayer, LogFile } from "../../../src/audit/door.ts";
import { type Checkpoint, readCheckpoint } from "../../../src/service/journal/checkpoint-file.ts";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import { failingDisk } from "../../audit/storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "../../audit/storage/support/memory-disk.ts";
import { lines, temporaryFolder } from "./support/lines.ts";

type OpenMode = Parameters<FileLayer["open"]>[1];

/** A journal whose checkpoints are counted, and whose lines can be held up. */
async function setUp() {
  const disk = new MemoryDisk(seeded(1));
  const { faults, layer } = failingDisk(disk.layer());
  const counts = { checkpoints: 0 };
  let held = Promise.resolve();
  const hold = () => {
    let release = () => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  };
  async function open(path: string, mode: "create"): Promise<LogFile>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined> {
    const file = await layer.open(path, mode);
    if (file === undefined || !path.includes("lines-")) return file;
    return { ...file, write: (bytes, at) => held.then(() => file.write(bytes, at)) };
  }
  const fileLayer = {
    ...layer,
    open,
    rename: (from: string, to: string) => {
      counts.checkpoints += 1;
      return layer.rename(from, to);
    },
  };
  const journal = await EventJournal.open("/log", { fileLayer });
  counts.checkpoints = 0;
  const saved = async (): Promise<Checkpoint> => {
    const found = await readCheckpoint(disk.layer(), "/log");
    if (found === undefined || found === "unreadable") throw new Error(`${found}`);
    return found;
  };
  return { disk, faults, counts, hold, journal, saved };
}

describe("the verified end", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("moves on when nothing was stored, once a second at most, and only if it has to", async () => {
    const { counts, journal, saved } = await setUp();
    for (let n = 0; n < 10; n += 1) {
      await journal.append(lines(2));
      await vi.advanceTimersByTimeAsync(99);
    }
    expect([await saved(), counts.checkpoints]).toEqual([{ position: 0, stored: 0, end: 0 }, 0]);
    await vi.advanceTimersByTimeAsync(10);
    expect([await saved(), counts.checkpoints]).toEqual([{ position: 0, stored: 0, end: 20 }, 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([counts.checkpoints, vi.getTimerCount()]).toEqual([1, 0]);
    await journal.append(lines(1));
    await journal.checkpoint(7);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await saved()).toEqual({ position: 7, stored: 7, end: 21 });
    expect(counts.checkpoints).toBe(2);
    await journal.close();
    expect(counts.checkpoints).toBe(2);
  });

  it("waits for what is being written", async () => {
    const { hold, journal, saved } = await setUp();
    await journal.append(lines(1));
    const release = hold();
    const writing = journal.append(lines(20));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await saved()).toMatchObject({ end: 0 });
    release();
    await writing;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await saved()).toMatchObject({ end: 21 });
    await journal.close();
  });

  it("may fail to be written: lines are taken all the same, and it is tried again", async () => {
    const { counts, faults, journal, saved } = await setUp();
    await journal.append(lines(1));
    faults.failingCreates = 2;
    faults.room = 0;
    faults.failingSyncs = 1;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await saved(), faults.failingSyncs]).toMatchObject([{ end: 0 }, 0]);
    faults.room = Number.POSITIVE_INFINITY;
    expect(await journal.append(lines(1))).toEqual({ first: 1, last: 1 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await saved(), counts.checkpoints]).toMatchObject([{ end: 2 }, 1]);
    await journal.close();
  });

  it("leaves no timer behind a close, and is written by it", async () => {
    const { counts, journal, saved } = await setUp();
    await journal.append(lines(3));
    expect(vi.getTimerCount()).toBe(1);
    await Promise.all([journal.append(lines(1)), journal.close()]);
    expect([await saved(), vi.getTimerCount()]).toEqual([{ position: 0, stored: 0, end: 4 }, 0]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counts.checkpoints).toBe(1);
  });

  it("is where the lines end as soon as a journal is open that was killed", async () => {
    const { disk, journal, saved } = await setUp();
    await journal.append(lines(5));
    disk.restart();
    await journal.close();
    expect(await saved()).toMatchObject({ end: 0 });
    const again = await EventJournal.open("/log", { fileLayer: disk.layer() });
    expect(await saved()).toMatchObject({ end: 5 });
    await again.close();
  });
});

it("keeps no process alive that has not closed its journal", async () => {
  const folder = await temporaryFolder();
  const journal = await EventJournal.open(folder);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  await journal.append(lines(1));
  expect(timers()).toBe(before);
  await journal.close();
  await rm(folder, { recursive: true });
});
