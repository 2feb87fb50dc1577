import { describe, expect, it } from "vitest";
import type { AuditEntry, RowAnchor, ThreadKey } from "../../src/audit/audit-row.ts";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import type { RowWaiter, SessionLog } from "../../src/audit/session-log.ts";
import { failingDisk } from "./storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "./storage/support/memory-disk.ts";
import { entries, entry, key } from "./support/entries.ts";

/** Notes what it is told, in the order of all that share `told`. */
function waiter(name: string, told: unknown[]): RowWaiter {
  return {
    stored: ({ ordinal }: RowAnchor) => void told.push(`${name} ${ordinal}`),
    failed: (error) => void told.push(`${name} ${error instanceof Error ? error.name : error}`),
  };
}

/** Appends as a bridge does, to a log that may or may not know waiters. */
function appendFor(
  log: SessionLog,
  key: ThreadKey,
  entries: readonly AuditEntry[],
  waiter: RowWaiter,
): Promise<void> {
  return new AuditSink({ log }).append({ key, entries }, waiter);
}

async function ndjson() {
  const disk = new MemoryDisk(seeded(1));
  const { faults, layer } = failingDisk(disk.layer());
  const log = await NdjsonSessionLog.open("/log", { files: layer });
  return { faults, layer, log };
}

describe.each([
  ["a log that knows waiters", async (): Promise<SessionLog> => (await ndjson()).log],
  ["a log that knows none", async (): Promise<SessionLog> => new MemorySessionLog()],
] as const)("appendFor, on %s", (_, make) => {
  it("tells each waiter its place before it resolves, and of a known event the row that is there", async () => {
    const log = await make();
    const told: unknown[] = [];
    const other = { ...key, thread_id: "t2" };
    const known = entry("a", { event_id: "e1" });
    await Promise.all([
      appendFor(log, key, [entry("x"), known], waiter("first", told)),
      appendFor(log, other, entries(1, "b"), waiter("other", told)),
      appendFor(log, key, entries(1, "c"), waiter("second", told)),
    ]);
    expect(told).toEqual(["first 2", "other 1", "second 3"]);
    await appendFor(log, key, [known], waiter("again", told));
    expect(told.slice(3)).toEqual(["again 2"]);
    expect(await log.loadSince(key, 0)).toHaveLength(3);
  });

  it("tells of what is refused, and never rejects", async () => {
    const log = await make();
    const told: unknown[] = [];
    const nameless = { ...key, thread_id: "" };
    await appendFor(log, nameless, entries(1), waiter("nameless", told));
    await log.appendFor?.(nameless, entries(1), waiter("of the log", told));
    const all = ["nameless TypeError", "of the log TypeError"];
    expect(told).toEqual(all.slice(0, log.appendFor === undefined ? 1 : 2));
  });

  it("goes on though a waiter throws", async () => {
    const log = await make();
    const told: unknown[] = [];
    const thrower: RowWaiter = {
      stored: () => {
        throw new Error("mine");
      },
      failed: () => void told.push("failed"),
    };
    await appendFor(log, key, entries(1, "a"), thrower).catch(() => {});
    await appendFor(log, key, entries(1, "b"), waiter("next", told));
    expect(told).toEqual(["next 2"]);
  });
});

/** Notes the anchor of each answer, and how many appends it is for. */
function counter(answers: unknown[]): RowWaiter {
  return {
    stored: ({ ordinal }, appends = 1) => void answers.push([ordinal, appends]),
    failed: (_, appends = 1) => void answers.push(["failed", appends]),
  };
}

describe("appends of one moment to one thread that share a waiter", () => {
  const other = { ...key, thread_id: "t2" };

  it("share one promise and one answer, which has the last anchor and their number", async () => {
    const { log } = await ndjson();
    const [mine, its]: [unknown[], unknown[]] = [[], []];
    const [waiter, second] = [counter(mine), counter(its)];
    const promises = [
      log.appendFor(key, entries(2, "a"), waiter),
      log.appendFor(key, entries(1, "b"), waiter),
      log.appendFor(other, entries(1, "c"), waiter),
      log.appendFor(key, entries(1, "d"), second),
      log.appendFor(key, entries(1, "e"), waiter),
      log.appendFor(key, entries(1, "f"), waiter),
    ];
    expect(new Set(promises).size).toBe(1);
    await promises[0];
    expect(mine).toEqual([
      [3, 2],
      [1, 1],
      [6, 2],
    ]);
    expect(its).toEqual([[4, 1]]);
    await log.appendFor(key, entries(1, "g"), waiter);
    expect(mine.at(-1)).toEqual([7, 1]);
  });

  it("fail together, and the thread continues from its last stored row", async () => {
    const { faults, log } = await ndjson();
    const answers: unknown[] = [];
    const waiter = counter(answers);
    await log.appendFor(key, entries(2, "a"), waiter);
    faults.room = 0;
    await Promise.all(["b", "c", "d"].map((name) => log.appendFor(key, entries(1, name), waiter)));
    faults.room = Number.POSITIVE_INFINITY;
    await log.appendFor(key, entries(1, "e"), waiter);
    expect(answers).toEqual([
      [2, 1],
      ["failed", 3],
      [3, 1],
    ]);
    const rows = await log.loadSince(key, 0);
    expect(rows.map(({ event }) => Reflect.get(event, "name"))).toEqual(["a1", "a2", "e1"]);
  });

  it("are answered as well if their events are queued already", async () => {
    const { log } = await ndjson();
    const answers: unknown[] = [];
    const waiter = counter(answers);
    const known = [entry("a", { event_id: "e1" })];
    await Promise.all([1, 2, 3].map(() => log.appendFor(key, known, waiter)));
    await log.appendFor(key, known, waiter);
    expect(answers.map((answer) => Array.isArray(answer) && answer[0])).toEqual([1, 1, 1, 1]);
    expect(await log.loadSince(key, 0)).toHaveLength(1);
  });

  it.each(["batch", "each"] as const)(
    "continue threads that the log has no memory for, while their rows are queued (%s)",
    async (durability) => {
      const files = new MemoryDisk(seeded(2)).layer();
      const log = await NdjsonSessionLog.open("/log", { files, durability, heads: 1 });
      const threads = Array.from({ length: 9 }, (_, n) => ({ ...key, thread_id: `t${n}` }));
      const turns = [1, 2, 3].flatMap((turn) => threads.map((thread) => ({ thread, turn })));
      const anchors = await Promise.all(
        turns.map(({ thread, turn }) => log.append(thread, entries(1, `${turn}`))),
      );
      expect(anchors.map(({ ordinal }) => ordinal)).toEqual(turns.map(({ turn }) => turn));
      for (const thread of threads) expect(await log.loadSince(thread, 0)).toHaveLength(3);
      await log.close();
    },
  );
});

describe("appendFor, on a disk that fails", () => {
  it("tells all that wait of the failure, and goes on with the chain afterwards", async () => {
    const { faults, log } = await ndjson();
    const told: unknown[] = [];
    faults.room = 0;
    await Promise.all([
      appendFor(log, key, entries(1, "a"), waiter("first", told)),
      appendFor(log, key, entries(1, "b"), waiter("second", told)),
    ]);
    expect(told).toEqual(["first Error", "second Error"]);
    faults.room = Number.POSITIVE_INFINITY;
    await appendFor(log, key, entries(1, "a"), waiter("again", told));
    expect(told.slice(2)).toEqual(["again 1"]);
  });

  it("reads the head of a thread that only the disk knows, in the order of the calls", async () => {
    const { layer, log } = await ndjson();
    await log.append(key, entries(2, "a"));
    await log.close();
    const again = await NdjsonSessionLog.open("/log", { files: layer, heads: 1 });
    const told: unknown[] = [];
    await Promise.all([
      appendFor(again, key, entries(1, "b"), waiter("first", told)),
      appendFor(again, key, entries(1, "c"), waiter("second", told)),
    ]);
    expect(told).toEqual(["first 3", "second 4"]);
    await again.close();
    await appendFor(again, key, entries(1, "d"), waiter("late", told));
    expect(told.slice(2)).toEqual(["late Error"]);
  });

  it("tells of a log that throws in place of rejecting", async () => {
    const told: unknown[] = [];
    const log: SessionLog = {
      append: () => {
        throw new RangeError("own log");
      },
      loadSince: async () => [],
      archiveBefore: async () => 0,
    };
    await appendFor(log, key, entries(1), waiter("own", told));
    expect(told).toEqual(["own RangeError"]);
  });
});
