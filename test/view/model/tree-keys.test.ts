import { describe, expect, it } from "vitest";
import { outlineOf } from "../../../src/view/model/outline.ts";
import { timelineRows } from "../../../src/view/model/rows.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { findRow, treeMove } from "../../../src/view/model/tree-keys.ts";
import { viewSpan } from "../support/view-span.ts";

const times = { from: 0, to: 9 };
const { roots } = outlineOf(
  spanTree([
    viewSpan("a", undefined, times),
    viewSpan("b", "a", times),
    viewSpan("c", "b", times),
    viewSpan("d", "a", times),
    viewSpan("e", "d", times),
  ]),
);
/** a, b, c and d; d is closed. */
const rows = timelineRows(roots, new Set(["d"]));
const [A, B, C, D] = [0, 1, 2, 3];

describe("the keys of the tree", () => {
  it.each([
    ["ArrowDown", A, B],
    ["ArrowDown", D, undefined],
    ["ArrowUp", D, C],
    ["ArrowUp", A, undefined],
    ["ArrowRight", A, B],
    ["ArrowRight", C, undefined],
    ["ArrowRight", D, "toggle"],
    ["ArrowLeft", C, B],
    ["ArrowLeft", D, A],
    ["ArrowLeft", B, "toggle"],
    ["Home", D, A],
    ["End", A, D],
    ["PageDown", A, C],
    ["PageDown", C, D],
    ["PageUp", D, B],
    [" ", D, "toggle"],
    [" ", C, undefined],
    ["x", A, undefined],
  ] as const)("%j in row %i: %j", (key, at, result) => {
    const move = treeMove(key, rows, at, 2);
    expect(move).toEqual(
      result === undefined
        ? { does: "nothing" }
        : result === "toggle"
          ? { does: "toggle" }
          : { does: "go", to: result },
    );
  });

  it("go to the first row where none is active", () => {
    expect(treeMove("ArrowDown", rows, -1, 5)).toEqual({ does: "go", to: 0 });
    expect(treeMove("ArrowDown", [], -1, 5)).toEqual({ does: "nothing" });
  });
});

describe("finding a row", () => {
  const names = ["plan", "search web", "research", "Search files"];

  it.each([
    ["sea", 0, "start", 1],
    ["sea", 1, "start", 3],
    ["sea", 3, "start", 1],
    ["sea", 1, "within", 2],
    ["plan", 0, "start", 0],
    ["none", 0, "within", -1],
    ["", 0, "within", -1],
  ] as const)("%j after row %i by %s: %i", (text, after, match, at) => {
    expect(findRow(names, text, after, match)).toBe(at);
  });
});
