import { describe, expect, it } from "vitest";
import { expectTrees, readExpected } from "../../../bridge/spans/expected-tree.ts";
import { readLines } from "../../../support/golden.ts";
import { flat } from "../../../support/run-events.ts";
import { replayed } from "./replayed.ts";

const drawn = readExpected("graph_trees.json");

describe("the trees of logs of GraphEvents", () => {
  for (const [name, expected] of drawn) {
    it(`${name} gives the trees that were drawn by hand`, async () => {
      const { diagnostics, ended, report, reports, started, trees } = await replayed(
        readLines(`streams/${name}.ndjson`),
      );
      expectTrees(trees, expected);
      expect([...ended.values()]).toEqual(flat(trees).map(() => 1));
      expect([...started.keys()].sort()).toEqual([...ended.keys()].sort());
      expect(reports).toEqual([]);
      expect(report).toMatchObject({ rejected: 0, unknown: 0, late: 0 });
      expect(diagnostics.adjustments).toMatchObject({ clamped: 0 });
    });
  }
});
