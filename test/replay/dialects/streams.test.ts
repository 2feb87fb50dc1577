import { describe, expect, it } from "vitest";
import { RUNTIMES } from "../../../src/replay/runtimes.ts";
import { expectTrees, readExpected } from "../../bridge/spans/expected-tree.ts";
import { readLines } from "../../support/golden.ts";
import { replayDialect } from "../../support/replay-dialect.ts";
import { flat } from "../../support/run-events.ts";

const drawn = readExpected("dialect_stream_trees.json");

function replayed(lines: readonly string[]) {
  const [first = ""] = lines;
  const runtime = RUNTIMES.find(({ dialect }) => dialect.looksLike(JSON.parse(first)));
  if (runtime?.mapping === undefined) throw new TypeError(first);
  return replayDialect(runtime.dialect, runtime.mapping("default"), lines);
}

describe("the trees of streams that were cut", () => {
  for (const [name, expected] of drawn) {
    it(`${name} gives the trees that were drawn by hand`, async () => {
      const { ended, reports, started, trees } = await replayed(
        readLines(`streams/${name}.ndjson`),
      );
      expectTrees(trees, expected);
      expect([...ended.values()]).toEqual(flat(trees).map(() => 1));
      expect([...started.keys()].sort()).toEqual([...ended.keys()].sort());
      expect(reports).toEqual([]);
    });
  }
});
