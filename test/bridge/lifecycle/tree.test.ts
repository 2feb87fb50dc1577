import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Run } from "../../../src/bridge/lifecycle/run.ts";
import { Forest, Tree } from "../../../src/bridge/lifecycle/tree.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { Instant } from "../../../src/entries/events.ts";

const at = (seconds: number): Instant => [seconds, 0];
const ids = RunIds.hashed("acme", "r");

function newRun(name: string, tree: Tree<string>, seconds = 0): Run<string> {
  return new Run("acme", name, ids, at(seconds), tree);
}

/** The forest read from both ends, which must be the same. */
function listed(forest: Forest<string>, last: Tree<string> | undefined): string[][] {
  const forward: string[][] = [];
  let end: Tree<string> | undefined;
  for (let tree = forest.first; tree !== undefined; tree = tree.next) {
    const names: string[] = [];
    for (let run = tree.first; run !== undefined; run = run.next) names.push(run.runId);
    const back: string[] = [];
    for (let run = tree.last; run !== undefined; run = run.previous) back.push(run.runId);
    expect(back.reverse()).toEqual(names);
    forward.push(names);
    expect(tree.previous).toBe(end);
    end = tree;
  }
  expect(end).toBe(last);
  return forward;
}

describe("the forest of open runs", () => {
  it("orders trees and runs by when they were last heard of", () => {
    const step = fc.record({
      what: fc.constantFrom("add", "touch", "remove", "moveToEnd"),
      run: fc.nat(7),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const forest = new Forest<string>();
        const trees = [0, 1, 2].map(() => new Tree<string>(at(0)));
        const runs = Array.from({ length: 8 }, (_, n) => {
          const tree = trees[n % 3];
          if (tree === undefined) throw new Error("three trees");
          return newRun(String(n), tree);
        });
        // The model: names in order of activity, and trees in order of theirs.
        let model: { tree: Tree<string>; names: string[] }[] = [];
        for (const [n, { what, run: index }] of steps.entries()) {
          const run = runs[index];
          if (run === undefined) continue;
          const group = model.find(({ tree }) => tree === run.tree);
          const isOpen = group?.names.includes(run.runId) ?? false;
          if (what === "add" && !isOpen) {
            forest.add(run, at(n));
            model = model.filter((other) => other !== group);
            model.push({ tree: run.tree, names: [...(group?.names ?? []), run.runId] });
          } else if (what === "touch" && isOpen && group !== undefined) {
            forest.touch(run, at(n));
            model = model.filter((other) => other !== group);
            const others = group.names.filter((name) => name !== run.runId);
            model.push({ tree: run.tree, names: [...others, run.runId] });
          } else if (what === "remove" && isOpen && group !== undefined) {
            forest.remove(run);
            group.names = group.names.filter((name) => name !== run.runId);
            model = model.filter(({ names }) => names.length > 0);
          } else if (what === "moveToEnd" && group !== undefined) {
            forest.moveToEnd(group.tree, at(n));
            model = [...model.filter((other) => other !== group), group];
          }
          expect(listed(forest, model.at(-1)?.tree)).toEqual(model.map(({ names }) => names));
        }
      }),
    );
  });

  it("knows the tenant's tree that was silent longest, asked at any time", () => {
    const step = fc.record({
      what: fc.constantFrom("add", "touch", "remove", "moveToEnd", "ask", "rest"),
      run: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const forest = new Forest<string>();
        const trees = [0, 1, 2, 3, 4].map(() => new Tree<string>(at(0)));
        const runs = trees.flatMap((tree, n) =>
          ["a", "b"].map((name) => new Run(`tenant${n % 2}`, name, ids, at(0), tree)),
        );
        const open = new Set<Run<string>>();
        for (const [n, { what, run: index }] of steps.entries()) {
          const run = runs[index];
          if (run === undefined) continue;
          if (what === "rest") forest.rest();
          else if (what === "add" && !open.has(run)) {
            forest.add(run, at(n));
            open.add(run);
          } else if (what !== "add" && open.has(run)) {
            if (what === "touch") forest.touch(run, at(n));
            else if (what === "moveToEnd") forest.moveToEnd(run.tree, at(n));
            else if (what === "remove") {
              forest.remove(run);
              open.delete(run);
            }
          }
          if (what === "rest") {
            expect(trees.map((tree) => [tree.list, tree.nextOfTenant])).toEqual(
              trees.map(() => [undefined, undefined]),
            );
          } else if (what === "ask") {
            for (const tenant of ["tenant0", "tenant1", "nobody"]) {
              const expected: Tree<string>[] = [];
              for (let tree = forest.first; tree !== undefined; tree = tree.next) {
                if (tree.first?.tenantId === tenant) expected.push(tree);
              }
              const found: Tree<string>[] = [];
              for (
                let tree = forest.firstOf(tenant);
                tree !== undefined;
                tree = tree.nextOfTenant
              ) {
                found.push(tree);
              }
              expect(found.map((tree) => trees.indexOf(tree))).toEqual(
                expected.map((tree) => trees.indexOf(tree)),
              );
            }
          }
        }
      }),
    );
  });

  it("knows the latest time of a tree and of a run, whatever order the times come in", () => {
    const forest = new Forest<string>();
    const tree = new Tree<string>(at(5));
    const first = newRun("first", tree, 5);
    const second = newRun("second", tree, 6);
    forest.add(first, at(5));
    forest.add(second, at(6));
    forest.touch(first, at(3));
    expect([tree.lastAt, first.lastAt]).toEqual([at(6), at(5)]);
    forest.touch(second, [6, 1]);
    expect([tree.lastAt, first.lastAt, second.lastAt]).toEqual([[6, 1], at(5), [6, 1]]);
  });

  it("lets go of a run and of a tree that are out of it", () => {
    const forest = new Forest<string>();
    const [one, two] = [new Tree<string>(at(0)), new Tree<string>(at(0))];
    const [first, second] = [newRun("first", one), newRun("second", two)];
    forest.add(first, at(0));
    forest.add(second, at(0));
    forest.remove(first);
    expect([first.previous, first.next, one.first, one.last, one.previous, one.next]).toEqual(
      Array.from({ length: 6 }),
    );
    expect(forest.first).toBe(two);
    forest.remove(second);
    expect(forest.first).toBeUndefined();
  });
});
