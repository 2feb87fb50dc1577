import { describe, expect, it } from "vitest";
import type { ViewAttributes, ViewRow } from "../../../src/view/format.ts";
import {
  callOf,
  changeText,
  decisionIn,
  decisionsBySpan,
  decisionWords,
} from "../../../src/view/model/decisions.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { toolSpan, viewRow } from "../support/view-span.ts";

const kind = "entelix.tool_call_decided";

function treeOf(attributes: ViewAttributes) {
  return spanTree([toolSpan("call", "run", { from: 1, to: 2 }, { attributes })]);
}

/** The decision about a call with these attributes. */
function decided(attributes: ViewAttributes, ...rows: readonly ViewRow[]) {
  const tree = treeOf(attributes);
  return [...decisionsBySpan(tree, rows).values()][0];
}

describe("a decision", () => {
  it("in a row says who decided what, after how long, and about which input", () => {
    const event = {
      name: "pay",
      decision: "edited",
      by: "user",
      person: "Ann",
      reason: "too much",
      wait_ms: 1203,
      proposed_input: { euros: 41.9 },
    };
    expect(decisionIn(viewRow(1, { kind, event }))).toEqual({
      tool: "pay",
      decision: "edited",
      by: "user",
      person: "Ann",
      reason: "too much",
      wait_ms: 1203,
      proposed: { euros: 41.9 },
    });
    expect(decisionIn(viewRow(1, { kind }))).toBeUndefined();
    expect(decisionIn(viewRow(1, { kind, event: { decision: 5 } }))).toBeUndefined();
    expect(decisionIn(viewRow(1, { event }))).toBeUndefined();
  });

  it("about a call is that of its row, before what its span says", () => {
    const event = { tool_use_id: "c1", name: "pay", decision: "approved", person: "Ann" };
    const attributes = {
      "gen_ai.tool.call.id": "c1",
      "entelix.approval.outcome": "edited",
      "entelix.approval.by": "user",
      "entelix.approval.wait_ms": 12,
      "entelix.approval.proposed_input": '{"euros":41.9}',
    };
    const row = viewRow(1, { kind, event });
    const own = { tool: "pay", decision: "approved", person: "Ann" };
    expect(decided(attributes, viewRow(9), row)).toEqual(own);
    const bySpan = { decision: "edited", by: "user", wait_ms: 12, proposed: { euros: 41.9 } };
    expect(decided(attributes)).toEqual(bySpan);
    expect(decided(attributes, row, viewRow(2, { kind, event }))).toEqual(bySpan);
    const twice = [row, viewRow(2, { kind, event }), viewRow(3, { kind, event })];
    expect(decided(attributes, ...twice)).toEqual(bySpan);
    expect(decided(attributes, { ...row, run_id: "other" })).toEqual(bySpan);
    expect(decided({})).toBeUndefined();
  });

  it("in words names the person, or what else decided", () => {
    const edited = { decision: "edited", wait_ms: 1203 };
    expect(decisionWords({ ...edited, by: "user", person: "ann@acme.test" })).toBe(
      "edited by ann@acme.test after 1.2 s",
    );
    expect(decisionWords({ ...edited, by: "user", wait_ms: 0 })).toBe("edited by a person");
    expect(decisionWords({ decision: "denied", by: "policy" })).toBe("denied by a rule");
    expect(decisionWords({ decision: "approved" })).toBe("approved");
  });

  it("has the span of its call, by the ID of the call", () => {
    const tree = treeOf({ "gen_ai.tool.call.id": "c1", "entelix.approval.outcome": "approved" });
    const decisions = decisionsBySpan(tree, []);
    const given = { tool: "pay", outcome: "approved", at_ms: 0 };
    expect(callOf({ ...given, call_id: "c1" }, "run", decisions)).toBe(tree.nodes[0]);
    expect(callOf({ ...given, call_id: "c2" }, "run", decisions)).toBeUndefined();
    expect(callOf({ ...given, call_id: "" }, "run", decisions)).toBeUndefined();
    expect(callOf({ ...given, call_id: "c1" }, "sub-agent", decisions)).toBeUndefined();
  });

  it("has its own span among several with one ID", () => {
    const call = (id: string, outcome: string) =>
      toolSpan(
        id,
        "run",
        { from: 1, to: 2 },
        {
          attributes: { "gen_ai.tool.call.id": "c1", "entelix.approval.outcome": outcome },
        },
      );
    const tree = spanTree([call("one", "edited"), call("two", "denied")]);
    const decisions = decisionsBySpan(tree, []);
    const given = { call_id: "c1", tool: "pay", at_ms: 0 };
    for (const [index, outcome] of ["edited", "denied"].entries()) {
      expect(callOf({ ...given, outcome }, "run", decisions)).toBe(tree.nodes[index]);
    }
  });
});

describe("what a person changed", () => {
  const change = (proposed: unknown, input: unknown) => {
    const [node] = treeOf({ "gen_ai.tool.call.arguments": JSON.stringify(input) }).nodes;
    return node && changeText(node, proposed);
  };

  it("are the fields that differ, with their values before and after", () => {
    expect(change({ order: 17, euros: 41.9 }, { order: 17, euros: 20 })).toBe("euros 41.9 → 20");
    expect(change({ to: "a", cc: "b" }, { to: "c", by: { x: 1 } })).toBe(
      'to a → c, cc b → nothing, by nothing → {"x":1}',
    );
    expect(change("all", "some")).toBe("all → some");
  });

  it("is cut where it is long or much", () => {
    expect(change({ text: "x".repeat(50) }, { text: "y" })).toBe(`text ${"x".repeat(40)}… → y`);
    expect(change({ a: 1, b: 1, c: 1, d: 1, e: 1 }, {})).toBe(
      "a 1 → nothing, b 1 → nothing, c 1 → nothing, and 2 more",
    );
  });

  it("is not known without both inputs, and none where they are equal", () => {
    expect(change({ a: 1 }, { a: 1 })).toBeUndefined();
    expect(change(undefined, { a: 1 })).toBeUndefined();
    const [node] = treeOf({}).nodes;
    expect(node && changeText(node, { a: 1 })).toBeUndefined();
  });
});
