import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ancestorsOf, type SpanNode, spanTree } from "../../../src/view/model/span-tree.ts";
import { runs } from "../../support/runs.ts";
import { at, T0, viewSpan } from "../support/view-span.ts";

const ids = (nodes: readonly SpanNode[]) => nodes.map(({ id }) => id);

describe("the tree of spans", () => {
  it("has parents before children, and children in the order of their start", () => {
    const tree = spanTree([
      viewSpan("late", "root", { from: 20, to: 30 }),
      viewSpan("deep", "early", { from: 6, to: 7 }),
      viewSpan("early", "root", { from: 5, to: 10 }),
      viewSpan("root", undefined, { from: 0, to: 40 }),
    ]);
    expect(ids(tree.roots)).toEqual(["root"]);
    expect(ids(tree.nodes)).toEqual(["root", "early", "deep", "late"]);
    const deep = tree.byId.get("deep");
    expect(deep === undefined ? [] : ids([...ancestorsOf(deep)])).toEqual(["early", "root"]);
  });

  it("counts times in ms from the earliest start, exact to the nanosecond", () => {
    const start_ns = String(T0 + 1n);
    const tree = spanTree([
      { ...viewSpan("b", undefined, { from: 0, to: 0 }), start_ns, end_ns: at(86_400_000) },
      viewSpan("a", undefined, { from: 0, to: null }),
    ]);
    expect(tree.originNs).toBe(T0);
    expect(tree.nodes.map(({ start, end }) => [start, end])).toEqual([
      [0, undefined],
      [1e-6, 86_400_000],
    ]);
    expect(tree.lastTime).toBe(86_400_000);
  });

  it("takes the times of events into account for its end", () => {
    const events = [{ name: "entelix.retry", time_ns: at(50), attributes: {} }];
    const open = viewSpan("a", undefined, { from: 0, to: null }, { events });
    expect(spanTree([open]).lastTime).toBe(50);
  });

  it("makes a root of a span whose parent is absent or of another trace", () => {
    const tree = spanTree([
      viewSpan("a", undefined, { from: 0, to: 9 }),
      viewSpan("lost", "nobody", { from: 1, to: 2 }),
      viewSpan("foreign", "a", { from: 3, to: 4 }, { trace_id: "other" }),
    ]);
    expect(ids(tree.roots)).toEqual(["a", "lost", "foreign"]);
  });

  it("shows each of two spans with the same id", () => {
    const tree = spanTree([
      viewSpan("a", undefined, { from: 0, to: 9 }),
      viewSpan("a", undefined, { from: 1, to: 2 }),
    ]);
    expect(ids(tree.nodes)).toEqual(["a", "a~2"]);
  });

  it("survives damaged times and an end before the start", () => {
    const tree = spanTree([
      { ...viewSpan("a", undefined, { from: 0, to: 0 }), start_ns: "soon", end_ns: "later" },
      viewSpan("b", undefined, { from: 9, to: 3 }),
    ]);
    expect(tree.nodes.map(({ end, start }) => end === start)).toEqual([true, true]);
  });

  it("walks a chain of 20,000 spans", () => {
    const chain = Array.from({ length: 20_000 }, (_, n) =>
      viewSpan(`s${n}`, n === 0 ? undefined : `s${n - 1}`, { from: n, to: 20_000 }),
    );
    expect(spanTree(chain).nodes.length).toBe(20_000);
  });

  it("has every span once under any parents, also in cycles", () => {
    const parents = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(parents, (given) => {
        const spans = given.map((parent, n) =>
          viewSpan(`s${n}`, `s${parent}`, { from: (n * 7) % 5, to: 10 }),
        );
        const { nodes, roots } = spanTree(spans);
        expect(ids(nodes).sort()).toEqual(spans.map(({ span_id }) => span_id).sort());
        const seen = new Set<SpanNode>();
        for (const node of nodes) {
          const { parent } = node;
          expect(parent === undefined ? roots.includes(node) : seen.has(parent)).toBe(true);
          if (parent !== undefined) expect(parent.children).toContain(node);
          seen.add(node);
        }
        const below = nodes.flatMap(({ children }) => children);
        expect(below.length + roots.length).toBe(nodes.length);
      }),
      { numRuns: runs(300) },
    );
  });
});
