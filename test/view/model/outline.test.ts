import { describe, expect, it } from "vitest";
import { failedAndAbove } from "../../../src/view/model/failures.ts";
import { itemWith, outlineOf, timeOf } from "../../../src/view/model/outline.ts";
import {
  shownFor,
  type TimelineRow,
  timelineRows,
  toggledToShow,
} from "../../../src/view/model/rows.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
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
