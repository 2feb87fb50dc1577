import { describe, expect, it } from "vitest";
import { rowsBySpan, subjectOf } from "../../../src/view/model/span-rows.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { runSpan, toolSpan, viewRow } from "../support/view-span.ts";

describe("the audit rows of a span", () => {
  const tree = spanTree([
    runSpan("one", undefined, { from: 0, to: 9 }),
    toolSpan("call", "one", { from: 1, to: 2 }),
    runSpan("two", undefined, { from: 20, to: 29 }),
    runSpan("child", "two", { from: 21, to: 22 }, { run_id: "child run" }),
  ]);

  it("are those that name it; each row belongs to one span", () => {
    const rows = [
      viewRow(1),
      viewRow(2, { span_id: "call" }),
      viewRow(3, { span_id: "two" }),
      viewRow(4, { span_id: "lost" }),
      viewRow(5, { run_id: "child run" }),
      viewRow(6, { run_id: null }),
      viewRow(7, { span_id: "call" }),
    ];
    const found = [...rowsBySpan(tree, rows)].map(([{ id }, own]) => [
      id,
      own.map(({ ordinal }) => ordinal),
    ]);
    expect(Object.fromEntries(found)).toEqual({
      one: [1, 4, 6],
      call: [2, 7],
      two: [3],
      child: [5],
    });
  });

  it("have a subject where their event names one", () => {
    expect(subjectOf(viewRow(1, { event: { name: "search" } }))).toBe("search");
    expect(subjectOf(viewRow(1, { event: { agent: "planner", name: 5 } }))).toBe("planner");
    expect(subjectOf(viewRow(1, { event: "text" }))).toBeUndefined();
  });
});
