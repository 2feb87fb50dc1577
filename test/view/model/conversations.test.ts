import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conversationCounts, groupRows } from "../../../src/view/model/conversations.ts";
import { lineAbove, linesOf } from "../../../src/view/model/list-lines.ts";
import { RunIndex, type RunRow } from "../../../src/view/model/run-index.ts";
import { newestFirst, sortRows } from "../../../src/view/model/sort-rows.ts";
import { atSecond, rowsOf, viewRun } from "./runs.ts";

const grouped = (rows: readonly RunRow[]) => groupRows(newestFirst(rows));

const FIRST = viewRun("first", {
  ...atSecond(1),
  thread_id: "t1",
  outcome: "failed",
  question: "Hello?",
  working_ms: 5,
  input_tokens: 3,
  cost_usd: "0.1",
});
const LAST = viewRun("last", {
  ...atSecond(9),
  thread_id: "t1",
  outcome: "complete",
  question: "And order 20?",
  working_ms: 7,
  output_tokens: 4,
  cost_usd: "0.2",
});
const ALONE = viewRun("alone", { ...atSecond(5), thread_id: "t2" });
const NO_THREAD = viewRun("no thread", { ...atSecond(6) });

describe("runs by conversation", () => {
  it("are a row for each thread with several runs: the last run, and sums", () => {
    const rows = grouped(rowsOf(FIRST, ALONE, LAST, NO_THREAD));
    expect(rows.map(({ run }) => run.key)).toEqual(["last", "no thread", "alone"]);
    const [row] = rows;
    expect(row?.run).toMatchObject({
      question: "And order 20?",
      outcome: "complete",
      working_ms: 12,
      input_tokens: 3,
      output_tokens: 4,
      cost_usd: "0.3",
      spans: 2,
    });
    expect(row?.folded?.rows.map(({ id }) => id)).toEqual(["last", "first"]);
    expect(row && conversationCounts(row)).toEqual({ runs: 2, failed: 1 });
    expect(rows.slice(1).map(({ folded }) => folded)).toEqual([undefined, undefined]);
  });

  it("are not joined where two tenants use the same thread ID", () => {
    const other = { ...LAST, tenant_id: "globex" };
    expect(grouped(rowsOf(FIRST, other)).map(({ id }) => id)).toEqual(["last", "first"]);
  });

  it("count tokens and cost of a sub-run once: its parent has them", () => {
    const child = viewRun("child", {
      ...FIRST,
      key: "child",
      run_id: "child",
      parent_run_id: "last",
    });
    expect(grouped(rowsOf(LAST, child))[0]?.run.cost_usd).toBe("0.2");
  });

  it("hold each run once, by their newest run, and the same however the runs came", () => {
    const runs = fc
      .array(
        fc.record({
          second: fc.nat(9),
          thread: fc.option(fc.nat(3), { nil: undefined }),
          tenant_id: fc.constantFrom("acme", "globex"),
          from: fc.option(fc.nat(9), { nil: undefined }),
        }),
        { maxLength: 20 },
      )
      .map((all) =>
        all.map(({ from, second, tenant_id, thread }, at) =>
          viewRun(`${at}`, {
            ...atSecond(second),
            tenant_id,
            ...(thread === undefined ? {} : { thread_id: `t${thread}` }),
            ...(from === undefined || from >= at ? {} : { resumed_from: `${from}` }),
          }),
        ),
      );
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 5 }), (all, size) => {
        const index = new RunIndex();
        for (let from = 0; from < all.length; from += size)
          index.merge(all.slice(from, from + size));
        const rows = grouped(index.rows);
        expect(rows).toEqual(grouped(rowsOf(...all)));
        const keys = rows.flatMap(keysIn).toSorted();
        expect(keys).toEqual(all.map(({ key }) => key).toSorted());
        const starts = rows.map(({ startMs }) => startMs);
        expect(starts).toEqual(starts.toSorted((one, other) => other - one));
        for (const { folded, startMs } of rows) {
          if (folded?.kind !== "conversation") continue;
          expect(folded.rows.length).toBeGreaterThan(1);
          expect(Math.max(...folded.rows.map((row) => row.startMs))).toBe(startMs);
          const threads = folded.rows.map(({ run }) => `${run.tenant_id} ${run.thread_id}`);
          expect(new Set(threads).size).toBe(1);
        }
      }),
    );
  });

  it("sort by their sums", () => {
    const rows = grouped(
      rowsOf(FIRST, LAST, viewRun("dear", { ...atSecond(2), cost_usd: "0.25" })),
    );
    expect(sortRows(rows, "cost", true).map(({ run }) => run.key)).toEqual(["last", "dear"]);
  });
});

/** The keys of all runs that a row stands for. A conversation has its newest run among those below it. */
function keysIn({ folded, run }: RunRow): readonly string[] {
  const below = (folded?.rows ?? []).flatMap(keysIn);
  return folded?.kind === "conversation" ? below : [run.key, ...below];
}

describe("the lines of the table", () => {
  const rows = grouped(
    rowsOf(
      FIRST,
      { ...LAST, resumed_from: "pause" },
      viewRun("pause", { ...atSecond(8), outcome: "interrupted", resumed: true }),
      NO_THREAD,
    ),
  );
  const [conversation] = rows;
  const shown = (...opened: readonly string[]) =>
    linesOf(rows, new Set(opened)).map(({ isOpen, level, row }) => [level, row.run.key, isOpen]);

  it("are the rows, and below open ones those that are folded below them", () => {
    const id = conversation?.id ?? "";
    expect(shown()).toEqual([
      [0, "last", false],
      [0, "no thread", false],
    ]);
    expect(shown(id)).toEqual([
      [0, "last", true],
      [1, "last", false],
      [1, "first", false],
      [0, "no thread", false],
    ]);
    expect(shown(id, "last", "no thread")).toEqual([
      [0, "last", true],
      [1, "last", true],
      [2, "pause", false],
      [1, "first", false],
      [0, "no thread", false],
    ]);
  });

  it("have IDs of their own, and know the line that they are folded below", () => {
    const lines = linesOf(rows, new Set([conversation?.id ?? "", "last"]));
    expect(new Set(lines.map(({ row }) => row.id)).size).toBe(lines.length);
    expect(lines.map((_, at) => lineAbove(lines, at))).toEqual([undefined, 0, 1, 0, undefined]);
  });
});
