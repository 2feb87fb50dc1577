import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { UsageTotals } from "../../../src/agents/core/usage-totals.ts";
import type { TraceRecord } from "../../../src/agents/openai-agents/trace-record.ts";
import { TraceTable } from "../../../src/agents/openai-agents/trace-table.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

describe("the table of traces", () => {
  it("drops what has rested longest, however often traces were woken and put in again", () => {
    const table = new TraceTable(10, 3);
    for (const id of ["a", "b", "c"]) rested(table, id);
    const a = table.find("a");
    if (a === undefined) throw new Error("a: expected to be known");
    table.wake(a);
    expect(a.resting).toBe(false);
    table.settle(a);
    expect(a.resting).toBe(true);
    rested(table, "d");
    expect(known(table)).toBe("acd");
    rested(table, "c");
    expect(known(table)).toBe("acd");
    for (const id of ["e", "f"]) rested(table, id);
    expect(known(table)).toBe("cef");
    expect(table.forgotten).toBe(0);
  });

  it("counts live traces that it drops", () => {
    const table = new TraceTable(2, 3);
    for (const id of ["a", "b", "c", "d"]) table.add(traceOf(id));
    expect(known(table)).toBe("cd");
    expect(table.forgotten).toBe(2);
  });

  it("counts paused traces that it drops at rest", () => {
    const table = new TraceTable(2, 1);
    const paused = traceOf("a");
    paused.root = { state: "interrupted" } as TraceRecord["root"];
    table.add(paused);
    table.settle(paused);
    rested(table, "b");
    rested(table, "c");
    expect(known(table)).toBe("c");
    expect(table.forgotten).toBe(1);
  });

  it("keeps nothing of traces that passed through", () => {
    const table = new TraceTable(10, 10);
    const trace = rested(table, "a");
    const before = heap();
    for (let n = 0; n < 200_000; n++) {
      table.wake(trace);
      table.settle(trace);
    }
    // It was 30 MB: an iterator that stands still holds every table that its map has had.
    expect(heap() - before).toBeLessThan(5_000_000);
    for (let n = 0; n < 20; n++) rested(table, String(n));
    expect(table.find("9")).toBeUndefined();
    expect(table.find("10")?.traceId).toBe("10");
  });

  it("finds each of ten thousand that passed through until it is dropped", () => {
    const table = new TraceTable(5, 50);
    for (let n = 0; n < 10_000; n++) {
      rested(table, String(n));
      expect(table.find(String(n - 50))).toBeUndefined();
      if (n >= 49) expect(table.find(String(n - 49))?.traceId).toBe(String(n - 49));
    }
  });
});

function rested(table: TraceTable, id: string): TraceRecord {
  const trace = traceOf(id);
  table.add(trace);
  table.settle(trace);
  return trace;
}

const known = (table: TraceTable) =>
  ["a", "b", "c", "d", "e", "f"].filter((id) => table.find(id) !== undefined).join("");

function traceOf(traceId: string): TraceRecord {
  return {
    traceId,
    name: "Agent workflow",
    named: false,
    tenantId: "acme",
    threadId: undefined,
    subject: undefined,
    metadata: undefined,
    state: undefined,
    awaited: [],
    outer: undefined,
    startedAt: undefined,
    rootRunId: traceId,
    pausedRootId: undefined,
    begun: 1,
    root: undefined,
    agents: new Map(),
    open: new Map(),
    resting: false,
    openRuns: 0,
    openTop: 0,
    topRuns: 0,
    endedAt: undefined,
    handoffs: [],
    problem: undefined,
    totals: new UsageTotals(),
    lastAt: undefined,
  };
}
