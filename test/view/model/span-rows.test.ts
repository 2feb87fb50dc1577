import { describe, expect, it } from "vitest";
import {
  decisionIn,
  decisionOf,
  rowsBySpan,
  subjectOf,
} from "../../../src/view/model/span-rows.ts";
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

  it("say who decided what", () => {
    const event = {
      kind: "x",
      name: "pay",
      decision: "denied",
      by: "user",
      person: "Ann",
      reason: "no",
    };
    const kind = "entelix.tool_call_decided";
    expect(decisionIn(viewRow(1, { kind, event }))).toEqual({
      tool: "pay",
      decision: "denied",
      by: "user",
      person: "Ann",
      reason: "no",
    });
    expect(decisionIn(viewRow(1, { kind }))).toBeUndefined();
    expect(decisionIn(viewRow(1, { kind, event: { decision: 5 } }))).toBeUndefined();
    expect(decisionIn(viewRow(1, { event }))).toBeUndefined();
  });

  it("tell the decision about a call, before what its span says", () => {
    const kind = "entelix.tool_call_decided";
    const event = { tool_use_id: "c1", name: "pay", decision: "approved", person: "Ann" };
    const attributes = {
      "gen_ai.tool.call.id": "c1",
      "entelix.approval.outcome": "edited",
      "entelix.approval.by": "user",
    };
    const call = spanTree([toolSpan("call", "run", { from: 1, to: 2 }, { attributes })]).nodes[0];
    if (call === undefined) throw new Error("no call");
    const row = viewRow(1, { kind, event });
    expect(decisionOf(call, [viewRow(9), row])).toEqual({
      tool: "pay",
      decision: "approved",
      person: "Ann",
    });
    const bySpan = { decision: "edited", by: "user" };
    expect(decisionOf(call, [])).toEqual(bySpan);
    expect(decisionOf(call, [row, viewRow(2, { kind, event })])).toEqual(bySpan);
    expect(decisionOf(call, [{ ...row, run_id: "other" }])).toEqual(bySpan);
  });

  it("have a subject where their event names one", () => {
    expect(subjectOf(viewRow(1, { event: { name: "search" } }))).toBe("search");
    expect(subjectOf(viewRow(1, { event: { agent: "planner", name: 5 } }))).toBe("planner");
    expect(subjectOf(viewRow(1, { event: "text" }))).toBeUndefined();
  });
});
