import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect, it } from "vitest";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, recording, started } from "../../cli/support/recorded.ts";
import { waitFor } from "../../support/wait-for.ts";
import { detailsOf, listOf, silentIo } from "../support/opened.ts";

const FOLLOW = { follow: true, content: true, pollMs: 5 };

/** Work with a folder that is followed, and has one recording at first. */
async function watched(work: (folder: Folder, runs: ViewedRuns) => Promise<void>) {
  using folder = new Folder();
  mkdirSync(folder.at("runs"));
  copyFileSync(recording("success"), folder.at("runs/a.ndjson"));
  const runs = await openSources([folder.at("runs")], FOLLOW, silentIo());
  try {
    await runs.ready();
    await work(folder, runs);
  } finally {
    await runs.close();
  }
}

const shown = (runs: ViewedRuns) => listOf(runs).runs.map(({ agent, outcome }) => [agent, outcome]);
const problems = (runs: ViewedRuns) => listOf(runs).sources.flatMap((source) => source.problems);

it("shows a recording that appears in a folder, and follows it", async () => {
  await watched(async (folder, runs) => {
    const before = shown(runs);
    expect(before).toHaveLength(1);
    const file = folder.at("runs/b.ndjson");
    writeFileSync(file, "");
    writeFileSync(file, `${started()}\n`);
    await waitFor(() => expect(shown(runs)).toContainEqual(["react", "open"]));
    writeFileSync(file, `${completed()}\n`, { flag: "a" });
    await waitFor(() => expect(shown(runs)).toContainEqual(["react", "complete"]));
    expect(shown(runs)).toHaveLength(2);
    expect(listOf(runs).sources.map(({ followed, name }) => [name, followed])).toEqual([
      [folder.at("runs/a.ndjson"), true],
      [file, true],
    ]);
  });
});

it("shows a file of spans that appears, and not what is no file of runs", async () => {
  await watched(async (folder, runs) => {
    const spans = folder.at("spans.ndjson");
    await command(["replay", recording("approval"), "--out", spans]);
    writeFileSync(folder.at("runs/notes.txt"), "nothing to read\n");
    mkdirSync(folder.at("runs/below"));
    renameSync(spans, folder.at("runs/c.jsonl"));
    await waitFor(() => expect(shown(runs).length).toBeGreaterThan(1));
    expect(listOf(runs).sources.map(({ kind }) => kind)).toEqual(["recording", "spans"]);
    expect(problems(runs)).toEqual([]);
  });
});

it("reads a file once that has two names in the folder, also one that appears later", async () => {
  await watched(async (folder, runs) => {
    const [latest, file] = [folder.at("runs/latest.ndjson"), folder.at("runs/b.ndjson")];
    symlinkSync(folder.at("runs/a.ndjson"), latest);
    writeFileSync(file, `${started()}\n`);
    await waitFor(() => expect(shown(runs)).toContainEqual(["react", "open"]));
    rmSync(latest);
    symlinkSync(file, latest);
    writeFileSync(file, `${completed()}\n`, { flag: "a" });
    await waitFor(() => expect(shown(runs)).toContainEqual(["react", "complete"]));
    copyFileSync(recording("tool_error"), folder.at("runs/z.ndjson"));
    await waitFor(() => expect(shown(runs)).toHaveLength(3));
    expect(listOf(runs).sources.map(({ name }) => name)).toEqual([
      folder.at("runs/a.ndjson"),
      file,
      folder.at("runs/z.ndjson"),
    ]);
  });
});

it("shows each run once when a recording is rotated", async () => {
  await watched(async (folder, runs) => {
    const [live, old] = [folder.at("runs/a.ndjson"), folder.at("runs/a.1.ndjson")];
    renameSync(live, old);
    writeFileSync(live, readFileSync(recording("nested_subagent")));
    await waitFor(() => expect(listOf(runs).sources).toHaveLength(2));
    await waitFor(async () => {
      const details = await detailsOf(runs);
      const counts = [...details.values()].map(({ run, spans }) => [run.agent, spans.length]);
      expect(counts.toSorted()).toEqual(
        [
          ["coordinator", 5],
          ["react", 2],
          ["react", 4],
        ].toSorted(),
      );
    });
  });
});

it("goes on after the folder was gone for a while", async () => {
  await watched(async (folder, runs) => {
    rmSync(folder.at("runs"), { recursive: true });
    mkdirSync(folder.at("runs"));
    copyFileSync(recording("tool_error"), folder.at("runs/d.ndjson"));
    await waitFor(() => expect(shown(runs)).toHaveLength(2));
  });
});
