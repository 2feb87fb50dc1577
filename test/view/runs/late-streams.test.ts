import { appendFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { Folder } from "../../cli/support/folder.ts";
import { oldBacklog } from "../../replay/input/support/backlogs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, listOf, withRuns } from "../support/opened.ts";

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

/** Agent and outcome of the run that is an hour older than the others. */
function backlogIn(runs: ViewedRuns) {
  const [run, ...more] = listOf(runs).runs.filter(({ run_id }) => run_id.endsWith("999"));
  expect(more).toEqual([]);
  return run && { agent: run.agent, outcome: run.outcome };
}

const FOLLOW = { ...ALL, follow: true, pollMs: 5 };
const COMPLETE = { agent: "backlog", outcome: "complete" };

describe("a backlog behind newer runs", () => {
  it("is a complete run, in one file", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("events.ndjson"), text(oldBacklog()));
    await withRuns([folder.at("events.ndjson")], ALL, async (runs) => {
      expect(backlogIn(runs)).toEqual(COMPLETE);
      expect(listOf(runs).runs).toHaveLength(151);
    });
  });

  it("is one in a folder, in a file of its own that is read after the newer runs", async () => {
    using folder = new Folder();
    const lines = oldBacklog({ backlog: 20 });
    writeFileSync(folder.at("1.ndjson"), text(lines.slice(0, 300)));
    writeFileSync(folder.at("2.ndjson"), text(lines.slice(300)));
    await withRuns([folder.path], ALL, async (runs) => {
      expect(backlogIn(runs)).toEqual(COMPLETE);
    });
  });

  it.each([
    ["read once", ALL],
    ["followed", FOLLOW],
  ])(
    "is one where each of its lines is in a file of its own, the last one first: %s",
    async (_, options) => {
      using folder = new Folder();
      const lines = oldBacklog().slice(-2);
      for (const [index, line] of lines.entries())
        writeFileSync(folder.at(`${index}.ndjson`), text([line]));
      await withRuns([folder.at("0.ndjson"), folder.at("1.ndjson")], options, async (runs) => {
        expect(backlogIn(runs)).toEqual(COMPLETE);
      });
    },
  );

  it("is one where it is added to a file that is followed", async () => {
    using folder = new Folder();
    const lines = oldBacklog({ backlog: 20 });
    const file = folder.at("events.ndjson");
    writeFileSync(file, text(lines.slice(0, 300)));
    await withRuns([file], FOLLOW, async (runs) => {
      expect(listOf(runs).runs).toHaveLength(150);
      appendFileSync(file, text(lines.slice(300)));
      await waitFor(() => expect(backlogIn(runs)).toEqual(COMPLETE));
    });
  });
});
