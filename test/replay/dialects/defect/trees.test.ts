import { describe, expect, it } from "vitest";
import {
  type ExpectedNode,
  expectTrees,
  readExpected,
} from "../../../bridge/spans/expected-tree.ts";
import { flat } from "../../../support/run-events.ts";
import { recordedLines, recordings } from "./recordings.ts";
import { replayed } from "./replayed.ts";

const drawn = readExpected("defect_trees.json");

function drawnFor(name: string): ExpectedNode[] {
  const trees = drawn.get(name);
  if (trees === undefined) throw new Error(`no tree was drawn for ${name}`);
  return trees;
}

describe("the trees of defect sessions", () => {
  it("were drawn for every recording", () => {
    const names = recordings().map((recording) => recording.name);
    expect([...drawn.keys()].sort()).toEqual(names.sort());
  });

  for (const recording of recordings()) {
    it(`${recording.name} gives the trees that were drawn by hand`, async () => {
      const lines = recordedLines(recording);
      const { diagnostics, ended, report, reports, started, trees } = await replayed(lines);
      expectTrees(trees, drawnFor(recording.name));
      expect([...ended.values()]).toEqual(flat(trees).map(() => 1));
      expect([...started.keys()].sort()).toEqual([...ended.keys()].sort());
      expect(reports).toEqual([]);
      expect(report).toMatchObject({ rejected: 0, unknown: 0, late: 0 });
      expect(diagnostics.adjustments).toMatchObject({
        clamped: 0,
        unseen_starts: 0,
        missing_parents: 0,
      });
    });

    it(`${recording.name} gives the same with sequences where every line comes twice`, async () => {
      const lines = recordedLines(recording).map((line, sequence) => ({ ...line, sequence }));
      const { report, trees } = await replayed(lines.flatMap((line) => [line, line]));
      expectTrees(trees, drawnFor(recording.name));
      expect(report.repeated).toBe(lines.length);
    });

    it(`${recording.name} gives the same with sequences, from its last line to its first`, async () => {
      const lines = recordedLines(recording).map((line, sequence) => ({ ...line, sequence }));
      const { trees } = await replayed(lines.reverse());
      expectTrees(trees, drawnFor(recording.name));
    });
  }
});
