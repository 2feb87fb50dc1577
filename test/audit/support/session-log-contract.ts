import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { AuditRow, RowAnchor } from "../../../src/audit/audit-row.ts";
import { MemorySessionLog } from "../../../src/audit/memory-session-log.ts";
import type { SessionLog } from "../../../src/audit/session-log.ts";
import type { GraphEvent } from "../../../src/audit/wire/graph-event.ts";
import { entries, entry, key } from "./entries.ts";

const ZEROS = "0".repeat(64);

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The chain recomputed from the fields alone, as anybody can. */
export function expectWhole(
  rows: readonly AuditRow[],
  before: RowAnchor = { ordinal: 0, hash: ZEROS },
) {
  let head = before;
  for (const row of rows) {
    expect(row.ordinal).toBe(head.ordinal + 1);
    expect(row.prev).toBe(head.hash);
    expect(row.digest).toBe(sha256(row.event_text));
    const { digest, event_id, ordinal, prev, run_id, span_id, tenant_id, thread_id, trace_id } =
      row;
    const fields = [
      prev,
      tenant_id,
      thread_id,
      ordinal,
      run_id,
      event_id,
      trace_id,
      span_id,
      digest,
    ];
    expect(row.hash).toBe(sha256(JSON.stringify(fields)));
    head = row;
  }
}

/**
 * What every store of a `SessionLog` does.
 *
 * @param make a log without rows, which remembers 4 event ids, or `all` of them.
 */
export function sessionLogContract(make: () => Promise<SessionLog>, remembers: "4" | "all"): void {
  it("chains the rows of a thread from 1 and gives back the events as they were", async () => {
    const log = await make();
    const event: GraphEvent = {
      kind: "tool_call",
      id: "tu-1",
      name: "ledger",
      input: { account: 9_007_199_254_740_993n, text: 'é\u0000"\ud800 ,"event":{' },
      timestamp: "2026-04-29T12:00:00.000000001Z",
    };
    const ids = { run_id: 'r"1', event_id: "e-1", trace_id: "ab", span_id: "cd" };
    const anchor = await log.append(key, [entry("first"), { event, ...ids }, entry("third")]);
    const rows = await log.loadSince(key, 0);
    expectWhole(rows);
    expect(rows).toHaveLength(3);
    expect(anchor).toEqual({ ordinal: 3, hash: rows[2]?.hash });
    expect(rows[1]).toMatchObject({ ...key, ...ids, ordinal: 2 });
    expect(rows[1]?.event).toEqual({
      ...event,
      // A lone surrogate has no bytes: JSON has it as an escape, and so has the row.
      input: { account: 9_007_199_254_740_993n, text: 'é\u0000"\ud800 ,"event":{' },
    });
    expect(rows[1]?.event_text).toContain('"account":9007199254740993');
    expect(rows[0]).toMatchObject({ event_id: null, trace_id: null, span_id: null, run_id: "r1" });
  });

  it("takes ids of any characters up to their longest", async () => {
    const log = await make();
    const worst = "\u0000".repeat(4096);
    const own = { tenant_id: worst, thread_id: worst };
    const ids = { run_id: worst, event_id: worst, trace_id: worst, span_id: worst };
    await log.append(own, [entry("a", ids), entry("b")]);
    const rows = await log.loadSince(own, 0);
    expectWhole(rows);
    expect(rows[0]).toMatchObject({ ...own, ...ids });
    await expect(log.append(own, [entry("c", { span_id: `${worst}x` })])).rejects.toThrow(
      "span_id:",
    );
    await expect(log.append({ ...own, thread_id: `${worst}x` }, [])).rejects.toThrow("thread_id:");
  });

  it("gives a thread back in which an event of an unknown kind is no JSON", async () => {
    const log = await make();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await log.append(key, [
      entry("a"),
      { event: { kind: "moved", where: cyclic, by: "b" } },
      entry("c"),
    ]);
    const rows = await log.loadSince(key, 0);
    expectWhole(rows);
    expect(rows.map(({ event }) => event.kind)).toEqual(["tool_call", "moved", "tool_call"]);
    expect(rows[1]?.event).toMatchObject({ by: "b" });
  });

  it("makes the same hashes for the same entries, in any store and at any time", async () => {
    const log = await make();
    const anchor = await log.append(key, [entry("a"), entry("b", { event_id: "e" })]);
    const again = await new MemorySessionLog().append(key, [entry("a")]);
    expect(again.ordinal).toBe(1);
    const fresh = new MemorySessionLog();
    await fresh.append(key, [entry("a")]);
    expect(await fresh.append(key, [entry("b", { event_id: "e" })])).toEqual(anchor);
  });

  it("keeps tenants and threads apart, whatever is in their names", async () => {
    const log = await make();
    const keys = [
      { tenant_id: "a", thread_id: "bc" },
      { tenant_id: "ab", thread_id: "c" },
      { tenant_id: "a", thread_id: "b\u0000c" },
      { tenant_id: "a\u0000b", thread_id: "c" },
      { tenant_id: "../../etc", thread_id: "passwd\n" },
      { tenant_id: 'x","thread_id":"y', thread_id: "z" },
    ];
    for (const [index, each] of keys.entries()) {
      await log.append(each, entries(index + 1, `k${index}-`));
    }
    for (const [index, each] of keys.entries()) {
      const rows = await log.loadSince(each, 0);
      expectWhole(rows);
      expect(rows.map(({ event }) => "name" in event && event.name)).toEqual(
        Array.from({ length: index + 1 }, (_unused, n) => `k${index}-${n + 1}`),
      );
    }
  });

  it("loads what is above the cursor", async () => {
    const log = await make();
    await log.append(key, entries(5));
    expect((await log.loadSince(key, 3)).map(({ ordinal }) => ordinal)).toEqual([4, 5]);
    expect(await log.loadSince(key, 5)).toEqual([]);
    expect(await log.loadSince(key, 500)).toEqual([]);
    expect(await log.loadSince({ ...key, tenant_id: "other" }, 0)).toEqual([]);
  });

  it("writes an event once, and answers a redelivery with the place of its row", async () => {
    const log = await make();
    const first = await log.append(key, [entry("a", { event_id: "e1" })]);
    await log.append(key, [entry("b")]);
    expect(await log.append(key, [entry("a", { event_id: "e1" })])).toEqual(first);
    const mixed = await log.append(key, [
      entry("a", { event_id: "e1" }),
      entry("c", { event_id: "e2" }),
      entry("c", { event_id: "e2" }),
    ]);
    expect(mixed.ordinal).toBe(3);
    // The same id in another thread or tenant is another event.
    const other = { ...key, thread_id: "t2" };
    expect((await log.append(other, [entry("a", { event_id: "e1" })])).ordinal).toBe(1);
    const foreign = { ...key, tenant_id: "other" };
    expect((await log.append(foreign, [entry("a", { event_id: "e1" })])).ordinal).toBe(1);
    expect(await log.loadSince(key, 0)).toHaveLength(3);
  });

  it("forgets event ids beyond its window, and not those inside", async () => {
    const log = await make();
    for (let n = 1; n <= 20; n += 1) await log.append(key, [entry("x", { event_id: `e${n}` })]);
    for (let n = 17; n <= 20; n += 1) {
      expect((await log.append(key, [entry("x", { event_id: `e${n}` })])).ordinal).toBe(n);
    }
    const forgotten = remembers === "4" ? 21 : 1;
    expect((await log.append(key, [entry("x", { event_id: "e1" })])).ordinal).toBe(forgotten);
  });

  it("answers a probe with the thread's head", async () => {
    const log = await make();
    expect(await log.append(key, [])).toEqual({ ordinal: 0, hash: ZEROS });
    const last = await log.append(key, entries(2));
    expect(await log.append(key, [])).toEqual(last);
    expect(await log.loadSince(key, 0)).toHaveLength(2);
  });

  it("encodes at the call: the caller may change the payload right after", async () => {
    const log = await make();
    const input = { n: 1 };
    const mutable = { ...entry("a").event, input };
    const target = { tenant_id: "acme", thread_id: "t1" };
    const list = [{ event: mutable, run_id: "r1" }];
    const appended = log.append(target, list);
    input.n = 2;
    mutable.kind = "changed";
    target.thread_id = "elsewhere";
    list.push({ event: mutable, run_id: "r2" });
    await appended;
    const rows = await log.loadSince(key, 0);
    expect(rows.map(({ event }) => event)).toEqual([{ ...entry("a").event, input: { n: 1 } }]);
  });

  it("gives ordinals in the order of the calls, from many callers at once", async () => {
    const log = await make();
    const keys = ["t1", "t2", "t3"].map((thread_id) => ({ tenant_id: "acme", thread_id }));
    const appended: Promise<RowAnchor>[] = [];
    const expected: number[] = [];
    for (let n = 0; n < 90; n += 1) {
      const target = keys[n % 3] ?? key;
      if (n % 7 === 0) await Promise.resolve();
      appended.push(log.append(target, entries((n % 4) + 1, `c${n}-`)));
      const before = expected[n - 3] ?? 0;
      expected.push(before + (n % 4) + 1);
    }
    expect((await Promise.all(appended)).map(({ ordinal }) => ordinal)).toEqual(expected);
    for (const [index, each] of keys.entries()) {
      const rows = await log.loadSince(each, 0);
      expectWhole(rows);
      expect(rows).toHaveLength(expected[87 + index] ?? 0);
    }
  });

  it("archives up to a watermark that only moves forward", async () => {
    const log = await make();
    expect(await log.archiveBefore(key, 5)).toBe(0);
    await log.append(key, entries(5));
    expect(await log.archiveBefore(key, 2)).toBe(2);
    expect((await log.loadSince(key, 0)).map(({ ordinal }) => ordinal)).toEqual([3, 4, 5]);
    expect(await log.archiveBefore(key, 2)).toBe(0);
    expect(await log.archiveBefore(key, 1)).toBe(0);
    // Beyond the end it takes what there is, and nothing of what comes later.
    expect(await log.archiveBefore(key, 100)).toBe(3);
    expect(await log.loadSince(key, 0)).toEqual([]);
    expect((await log.append(key, entries(1, "later"))).ordinal).toBe(6);
    expect((await log.loadSince(key, 0)).map(({ ordinal }) => ordinal)).toEqual([6]);
    expect(await log.archiveBefore({ ...key, tenant_id: "other" }, 5)).toBe(0);
  });

  it("names what is wrong with a call, and writes nothing of it", async () => {
    const log = await make();
    const append = (...args: unknown[]) => Reflect.apply(log.append, log, args);
    await expect(append({ tenant_id: "", thread_id: "t" }, [])).rejects.toThrow(
      "tenant_id: expected a string of 1 to 4096 characters",
    );
    await expect(append({ tenant_id: "a" }, [])).rejects.toThrow("thread_id: expected");
    await expect(append(key, [entry("ok"), { event: "no" }])).rejects.toThrow(
      "event: expected a GraphEvent",
    );
    await expect(append(key, [{ ...entry("x"), run_id: 5 }])).rejects.toThrow(
      "run_id: expected a string of at most 4096 characters, or nothing when not known",
    );
    await expect(log.loadSince(key, -1)).rejects.toThrow("cursor: expected a whole number from 0");
    await expect(log.archiveBefore(key, 1.5)).rejects.toThrow("watermark: expected a whole");
    expect(await log.loadSince(key, 0)).toEqual([]);
    expect((await log.append(key, [entry("ok")])).ordinal).toBe(1);
  });
}
