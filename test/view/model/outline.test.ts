import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { failedAndAbove, failuresIn } from "../../../src/view/model/failures.ts";
import {
  frameworkSteps,
  itemWith,
  type OutlineItem,
  outlineOf,
  timeOf,
} from "../../../src/view/model/outline.ts";
import {
  shownFor,
  type TimelineRow,
  timelineRows,
  toggledToShow,
} from "../../../src/view/model/rows.ts";
import { type SpanNode, spanTree } from "../../../src/view/model/span-tree.ts";
import { runs } from "../../support/runs.ts";
import { runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const failed = { failed: true };
const tree = spanTree([
  runSpan("run", undefined, { from: 0, to: 100 }),
  toolSpan("s1", "run", { from: 0, to: 5 }, failed),
  toolSpan("s2", "run", { from: 6, to: 9 }, failed),
  toolSpan("s3", "run", { from: 10, to: 12 }),
  toolSpan("s4", "run", { from: 13, to: 14 }),
  viewSpan("plan", "run", { from: 20, to: 50 }),
  viewSpan("part", "plan", { from: 21, to: 22 }, failed),
]);
const outline = outlineOf(tree);
const shown = (rows: readonly TimelineRow[]) =>
  rows.map(({ expanded, item, position, setSize }) => [
    item.id,
    item.level,
    `${position} of ${setSize}`,
    expanded,
  ]);

describe("the rows of the timeline", () => {
  it("fold a call that failed with its retries, and say how it stands in the tree", () => {
    expect(shown(timelineRows(outline.roots, new Set()))).toEqual([
      ["run", 1, "1 of 1", true],
      ["fold:s1", 2, "1 of 3", false],
      ["s4", 2, "2 of 3", undefined],
      ["plan", 2, "3 of 3", true],
      ["part", 3, "1 of 1", undefined],
    ]);
    const fold = outline.roots[0]?.children[0];
    expect(fold?.calls?.map(({ id }) => id)).toEqual(["s1", "s2", "s3"]);
    expect(fold?.node.id).toBe("s3");
  });

  it("show the calls of a fold that is opened, and nothing under a span that is closed", () => {
    expect(shown(timelineRows(outline.roots, new Set(["fold:s1", "plan"])))).toEqual([
      ["run", 1, "1 of 1", true],
      ["fold:s1", 2, "1 of 3", true],
      ["s1", 3, "1 of 3", undefined],
      ["s2", 3, "2 of 3", undefined],
      ["s3", 3, "3 of 3", undefined],
      ["s4", 2, "2 of 3", undefined],
      ["plan", 2, "3 of 3", false],
    ]);
  });

  it("are only failed spans and what they stand under, with the positions of what is shown", () => {
    const only = failedAndAbove(tree);
    expect(shown(timelineRows(outline.roots, new Set(["fold:s1"]), only))).toEqual([
      ["run", 1, "1 of 1", true],
      ["fold:s1", 2, "1 of 2", true],
      ["s1", 3, "1 of 2", undefined],
      ["s2", 3, "2 of 2", undefined],
      ["plan", 2, "2 of 2", true],
      ["part", 3, "1 of 1", undefined],
    ]);
  });

  it("open what hides a span", () => {
    const item = (id: string) => {
      const node = tree.byId.get(id);
      const found = node === undefined ? undefined : outline.byNode.get(node);
      if (found === undefined) throw new Error(`no item ${id}`);
      return found;
    };
    const closed = new Set(["run", "plan"]);
    expect([...toggledToShow(item("s2"), closed)].sort()).toEqual(["fold:s1", "plan"]);
    expect([...toggledToShow(item("part"), closed)]).toEqual([]);
    expect(toggledToShow(item("run"), closed)).toBe(closed);
  });
});

describe("an item", () => {
  const found = (id: string) => itemWith(id, { outline, tree });

  it("is found by its id, that of a fold too", () => {
    expect(found("s2")?.calls).toBeUndefined();
    expect(found("fold:s1")?.calls).toHaveLength(3);
    for (const id of ["", "x", "fold:", "fold:s2", "fold:s4", "fold:run"]) {
      expect(found(id), id).toBeUndefined();
    }
  });

  it("of a fold lasts from the first call to the end of the last one", () => {
    const times = ["s1", "s3", "fold:s1"].map((id) => {
      const item = found(id);
      return item && timeOf(item);
    });
    expect(times).toEqual([
      { start: 0, end: 5 },
      { start: 10, end: 12 },
      { start: 0, end: 12 },
    ]);
  });

  it("has the row of what it is folded into", () => {
    const rowFor = (id: string, toggled: string[]) => {
      const ids = new Set(timelineRows(outline.roots, new Set(toggled)).map(({ item }) => item.id));
      return shownFor(found(id), (one) => ids.has(one))?.id;
    };
    expect(rowFor("s2", [])).toBe("fold:s1");
    expect(rowFor("s2", ["fold:s1"])).toBe("s2");
    expect(rowFor("part", ["plan"])).toBe("plan");
    expect(rowFor("part", ["run"])).toBe("run");
    expect(rowFor("x", [])).toBeUndefined();
  });
});

describe("retries", () => {
  const foldsOf = (more: ReturnType<typeof toolSpan>[]) => {
    const [run] = outlineOf(
      spanTree([runSpan("run", undefined, { from: 0, to: 99 }), ...more]),
    ).roots;
    const folds = run?.children.filter(({ calls }) => calls !== undefined);
    return folds?.map(({ calls }) => calls?.map(({ id }) => id));
  };

  it("end with the first call that worked, and may all have failed", () => {
    expect(
      foldsOf([
        toolSpan("a", "run", { from: 0, to: 1 }, failed),
        toolSpan("b", "run", { from: 1, to: 2 }),
        toolSpan("c", "run", { from: 2, to: 3 }, failed),
        toolSpan("d", "run", { from: 3, to: 4 }, failed),
      ]),
    ).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });

  it("are not calls of another tool, calls beside each other, or steps", () => {
    const other = { attributes: { "gen_ai.tool.name": "other" } };
    expect(
      foldsOf([
        toolSpan("a", "run", { from: 0, to: 9 }, failed),
        toolSpan("b", "run", { from: 1, to: 10 }, failed),
        toolSpan("c", "run", { from: 11, to: 12 }, other),
        viewSpan("step", "run", { from: 13, to: 14 }, { ...failed, name: "step" }),
        viewSpan("again", "run", { from: 15, to: 16 }, { name: "step" }),
      ]),
    ).toEqual([]);
  });

  it("of a model count by the model that was asked", () => {
    const model = (id: string, from: number, name: string, rest = {}) => {
      const attributes = { "gen_ai.request.model": name };
      return viewSpan(id, "run", { from, to: from + 1 }, { kind: "model", attributes, ...rest });
    };
    expect(
      foldsOf([model("a", 0, "m", failed), model("b", 2, "m"), model("c", 4, "n", failed)]),
    ).toEqual([["a", "b"]]);
  });
});

const model = { kind: "model", name: "chat" } as const;

/** The steps that are hidden by default, and the rows without them. */
function short(spans: readonly ViewSpan[]) {
  const of = spanTree(spans);
  const hidden = frameworkSteps(of, failuresIn(of));
  const made = outlineOf(of, hidden);
  return { tree: of, hidden: [...hidden].map(({ id }) => id), outline: made };
}

describe("the steps of a framework", () => {
  const graph = [
    runSpan("run", undefined, { from: 0, to: 100 }),
    viewSpan("agent", "run", { from: 1, to: 10 }),
    viewSpan("ask", "agent", { from: 2, to: 9 }, model),
    viewSpan("tools", "run", { from: 11, to: 50 }),
    viewSpan("inner", "tools", { from: 12, to: 49 }),
    toolSpan("search", "inner", { from: 13, to: 40 }),
    runSpan("helper", "inner", { from: 41, to: 48 }, { run_id: "child" }),
    viewSpan("part", "helper", { from: 42, to: 43 }, { run_id: "child" }),
    viewSpan("after", "run", { from: 51, to: 52 }),
  ];

  it("have no row where their run has calls: what is under them stands in their place", () => {
    const { hidden, outline: made } = short(graph);
    expect(hidden).toEqual(["agent", "tools", "inner", "after"]);
    expect(shown(timelineRows(made.roots, new Set()))).toEqual([
      ["run", 1, "1 of 1", true],
      ["ask", 2, "1 of 3", undefined],
      ["search", 2, "2 of 3", undefined],
      ["helper", 2, "3 of 3", true],
      // Its run has no calls, so the step is what it did.
      ["part", 3, "1 of 1", undefined],
    ]);
  });

  it("are in the row above them, so that keys and zoom go on from there", () => {
    const { outline: made, tree: of } = short(graph);
    const rowOf = (id: string) => itemWith(id, { outline: made, tree: of })?.id;
    expect([rowOf("inner"), rowOf("after"), rowOf("search")]).toEqual(["run", "run", "search"]);
  });

  it("have a row if they failed by themselves, or look something up", () => {
    const { hidden } = short([
      runSpan("run", undefined, { from: 0, to: 100 }, failed),
      viewSpan("agent", "run", { from: 1, to: 10 }, failed),
      viewSpan("ask", "agent", { from: 2, to: 9 }, { ...model, ...failed }),
      viewSpan("parse", "run", { from: 11, to: 12 }, failed),
      viewSpan(
        "docs",
        "run",
        { from: 13, to: 14 },
        {
          attributes: { "gen_ai.operation.name": "retrieval" },
        },
      ),
    ]);
    expect(hidden).toEqual(["agent"]);
  });

  it("do not make calls of two steps retries of each other", () => {
    const { outline: made } = short([
      runSpan("run", undefined, { from: 0, to: 100 }),
      viewSpan("one", "run", { from: 1, to: 10 }),
      toolSpan("a", "one", { from: 2, to: 3 }, failed),
      viewSpan("two", "run", { from: 11, to: 20 }),
      toolSpan("b", "two", { from: 12, to: 13 }, failed),
      toolSpan("c", "two", { from: 14, to: 15 }),
    ]);
    expect(made.roots[0]?.children.map(({ id }) => id)).toEqual(["a", "fold:b"]);
  });

  it("are the only spans without a row, and the others keep their order", () => {
    const span = fc.record({
      parent: fc.nat({ max: 12 }),
      kind: fc.constantFrom("step", "tool", "model", "run", "other"),
      failed: fc.boolean(),
      from: fc.nat({ max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 12 }), (given) => {
        const {
          hidden,
          outline: made,
          tree: of,
        } = short(
          given.map(({ failed: fails, from, kind, parent }, n) =>
            viewSpan(`s${n}`, `s${parent}`, { from, to: from + 3 }, { kind, failed: fails }),
          ),
        );
        const left = new Set(hidden);
        expect(
          of.nodes.filter(({ id, span: { kind } }) => left.has(id) && kind !== "step"),
        ).toEqual([]);
        const rows = inRows(made.roots);
        const kept = of.nodes.filter(({ id }) => !left.has(id));
        expect(rows.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
        for (const node of kept) {
          expect(above(made.byNode.get(node))).toBe(shownAbove(node, left));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

/** The spans of items in the order of their rows, all of them open. */
function inRows(items: readonly OutlineItem[]): SpanNode[] {
  return items.flatMap(({ calls, children, node }) =>
    calls === undefined ? [node, ...inRows(children)] : inRows(children),
  );
}

/** ID of the span whose row is above, not that of a fold. */
function above(item: OutlineItem | undefined): string | undefined {
  const parent = item?.parent;
  return parent?.calls === undefined ? parent?.id : parent.parent?.id;
}

function shownAbove({ parent }: SpanNode, hidden: ReadonlySet<string>): string | undefined {
  if (parent === undefined || !hidden.has(parent.id)) return parent?.id;
  return shownAbove(parent, hidden);
}
