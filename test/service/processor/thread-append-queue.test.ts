import { describe, expect, it } from "vitest";
import { Retry } from "../../../src/bridge/door.ts";
import { type AuditEntry, MemorySessionLog, type SessionLog } from "../../../src/entries/audit.ts";
import { ThreadAppendQueue } from "../../../src/service/processor/thread-append-queue.ts";

const KEY = { tenant_id: "acme", thread_id: "t1" };

function row(id: string): AuditEntry {
  const timestamp = "2026-05-01T12:00:00Z";
  return { event: { kind: "cancelled", reason: id, timestamp }, event_id: id, run_id: "r" };
}

function appends(failures: (call: number) => Error | undefined) {
  const memory = new MemorySessionLog();
  const calls: string[][] = [];
  const closed = new AbortController();
  const log: SessionLog = {
    append: async (key, entries) => {
      const failure = failures(calls.length);
      calls.push(entries.map(({ event_id }) => String(event_id)));
      await new Promise((resolve) => setImmediate(resolve));
      if (failure !== undefined) throw failure;
      return memory.append(key, entries);
    },
    loadSince: (key, cursor) => memory.loadSince(key, cursor),
    archiveBefore: (key, watermark) => memory.archiveBefore(key, watermark),
  };
  const troubles: unknown[] = [];
  const retry = new Retry({
    closed: closed.signal,
    onTrouble: (error) => void troubles.push(error),
    isFinal: (error) => error instanceof TypeError,
    delays: { firstMs: 1, mostMs: 2 },
  });
  const threads = new ThreadAppendQueue(log, retry, closed.signal);
  return { calls, closed, memory, threads, troubles };
}

describe("ThreadAppendQueue", () => {
  it("keeps a thread's rows in order while the log fails, and tells of it once", async () => {
    const { memory, threads, troubles } = appends((call) =>
      call < 5 ? new Error("away") : undefined,
    );
    const group = {};
    const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
    const anchors = await Promise.all(ids.map((id) => threads.append(KEY, row(id), group)));
    const rows = await memory.loadSince(KEY, 0);
    expect(rows.map(({ event_id }) => event_id)).toEqual(ids);
    expect(anchors.at(-1)?.ordinal).toBe(20);
    expect(troubles).toHaveLength(1);
  });

  it("puts the rows of one group that wait into one call, and no others", async () => {
    const { calls, threads } = appends(() => undefined);
    const [first, second] = [{}, {}];
    const anchors = await Promise.all([
      threads.append(KEY, row("a"), first),
      threads.append(KEY, row("b"), first),
      threads.append(KEY, row("c"), first),
      threads.append(KEY, row("d"), second),
      threads.append(KEY, row("e"), undefined),
      threads.append(KEY, row("f"), undefined),
      threads.append({ ...KEY, thread_id: "t2" }, row("g"), first),
    ]);
    expect(calls).toEqual([["a"], ["g"], ["b", "c"], ["d"], ["e"], ["f"]]);
    // Of a group the last row's place is what matters.
    expect(anchors.map(({ ordinal }) => ordinal)).toEqual([1, 3, 3, 4, 5, 6, 1]);
  });

  it("finds the row that is wrong among those that share its call", async () => {
    const { memory, threads } = appends(() => undefined);
    const group = {};
    const wrong = { ...row("x"), run_id: "r".repeat(5000) };
    const settled = await Promise.allSettled(
      [row("a"), row("b"), wrong, row("c")].map((entry) => threads.append(KEY, entry, group)),
    );
    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    const rows = await memory.loadSince(KEY, 0);
    expect(rows.map(({ event_id }) => event_id)).toEqual(["a", "b", "c"]);
  });

  it("leaves rows unanswered once it is closed", async () => {
    const { calls, closed, threads } = appends(() => new Error("away"));
    let answered = false;
    const done = () => {
      answered = true;
    };
    void threads.append(KEY, row("a"), undefined).then(done, done);
    await new Promise((resolve) => setTimeout(resolve, 5));
    closed.abort(new Error("closed"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const after = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(calls.length).toBe(after);
    expect(answered).toBe(false);
  });
});
