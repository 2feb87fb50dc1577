import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { RunList } from "../../../src/view/format.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { recording } from "../../cli/support/recorded.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, listOf, silentIo, withRuns } from "../support/opened.ts";

const FOLLOW = { follow: true, content: true, pollMs: 5 };

const pipe = (path: string) => void execFileSync("mkfifo", [path]);

async function socket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(path, listening));
  // Its name is removed with it: a link keeps what it leads to.
  server.unref();
}

const ODD: readonly [string, (path: string) => unknown, string][] = [
  ["a link that leads nowhere", (path) => symlinkSync("nowhere.json", path), "no such file"],
  ["a ring of links", (path) => symlinkSync(path, path), "expected a file, got a loop of links"],
  ["a named pipe", pipe, "expected a file, got a named pipe"],
  ["a socket", socket, "expected a file, got a socket"],
  ["a folder", (path) => mkdirSync(path), "expected a file, got a directory"],
  ["a link to a folder", (path) => symlinkSync("/tmp", path), "expected a file, got a directory"],
  [
    "a link to /dev/zero",
    (path) => symlinkSync("/dev/zero", path),
    "expected a file, got a device",
  ],
];

/** A folder `runs` with one good recording, between the names of two that are not there yet. */
function aFolder(): Folder {
  const folder = new Folder();
  mkdirSync(folder.at("runs"));
  copyFileSync(recording("success"), folder.at("runs/m.ndjson"));
  return folder;
}

/** What is shown: agents, and what each source says. */
function shown({ runs, sources }: RunList) {
  return {
    agents: runs.map(({ agent }) => agent),
    problems: sources.flatMap(({ kind, problems }) =>
      problems.map(({ place, problem }) => [kind, place, problem]),
    ),
  };
}

async function followed(folder: Folder, work: (runs: ViewedRuns) => Promise<void>) {
  const runs = await openSources([folder.at("runs")], FOLLOW, silentIo());
  try {
    await runs.ready();
    await work(runs);
  } finally {
    await runs.close();
  }
}

describe("an odd entry of a folder", () => {
  it.each(ODD)("is a problem, and the rest is shown: %s", async (_, make, problem) => {
    using folder = aFolder();
    const odd = folder.at("runs/b.json");
    await make(odd);
    const list = await withRuns([folder.at("runs")], ALL, async (runs) => listOf(runs));
    expect(shown(list)).toEqual({ agents: ["react"], problems: [["folder", odd, problem]] });
  });

  it("is one of many, each of them named or counted", async () => {
    using folder = aFolder();
    for (let at = 0; at < 120; at += 1) symlinkSync("nowhere", folder.at(`runs/${at}.jsonl.gz`));
    const list = await withRuns([folder.at("runs")], ALL, async (runs) => listOf(runs));
    const [, { problem_count, problems } = { problem_count: 0, problems: [] }] = list.sources;
    expect([list.runs.length, problem_count, problems.length]).toEqual([1, 120, 100]);
  });

  it("is a problem as long as it is there, and is read once it is a file", async () => {
    using folder = aFolder();
    const odd = folder.at("runs/b.json");
    pipe(odd);
    await followed(folder, async (runs) => {
      expect(shown(listOf(runs)).problems).toHaveLength(1);
      const later = folder.at("runs/z.json");
      symlinkSync("nowhere", later);
      await waitFor(() => expect(shown(listOf(runs)).problems).toHaveLength(2));
      rmSync(later);
      rmSync(odd);
      copyFileSync(recording("nested_subagent"), odd);
      await waitFor(() => {
        const { agents, problems } = shown(listOf(runs));
        expect([agents.includes("coordinator"), problems]).toEqual([true, []]);
      });
    });
  });

  it.each([
    ["recordings", "expected a file, got a named pipe", pipe],
    ["spans", "expected a file, got a named pipe", pipe],
    ["spans", "expected a file, got a device", (path: string) => symlinkSync("/dev/zero", path)],
  ])("may take the place of a file that is followed: %s, %s", async (kind, problem, replace) => {
    using folder = aFolder();
    const file = folder.at("runs/b.ndjson");
    if (kind === "spans") await command(["replay", recording("pause"), "--out", file]);
    else copyFileSync(recording("pause"), file);
    const content = readFileSync(file);
    const name = kind === "spans" ? "spans" : "recording";
    await followed(folder, async (runs) => {
      expect(listOf(runs).runs).toHaveLength(2);
      rmSync(file);
      replace(file);
      await waitFor(() => {
        const { agents, problems } = shown(listOf(runs));
        expect(agents).toHaveLength(1);
        expect(problems).toContainEqual([name, file, problem]);
      });
      rmSync(file);
      writeFileSync(file, content);
      await waitFor(() => {
        const { agents, problems } = shown(listOf(runs));
        expect(agents).toHaveLength(2);
        expect(problems).not.toContainEqual([name, file, problem]);
      });
    });
  });
});

describe("an empty folder", () => {
  it("is a list without runs", async () => {
    using folder = new Folder();
    mkdirSync(folder.at("runs"));
    const list = await withRuns([folder.at("runs")], ALL, async (runs) => listOf(runs));
    expect(list.runs).toEqual([]);
    expect(list.sources).toEqual([
      {
        name: folder.at("runs"),
        kind: "folder",
        followed: false,
        read: 1,
        problem_count: 0,
        problems: [],
      },
    ]);
  });

  it("is followed: its first file is shown, and the folder is no source any more", async () => {
    using folder = new Folder();
    mkdirSync(folder.at("runs"));
    await followed(folder, async (runs) => {
      expect(listOf(runs).sources.map(({ kind, followed: is }) => [kind, is])).toEqual([
        ["folder", true],
      ]);
      copyFileSync(recording("success"), folder.at("runs/a.ndjson"));
      await waitFor(() => {
        const { runs: rows, sources } = listOf(runs);
        expect([rows.length, sources.map(({ kind }) => kind)]).toEqual([1, ["recording"]]);
      });
    });
  });

  it("may become an audit log", async () => {
    using folder = new Folder();
    mkdirSync(folder.at("runs"));
    await followed(folder, async (runs) => {
      await command(["replay", recording("success"), "--audit", folder.at("runs")]);
      await waitFor(() => {
        const { runs: rows, sources } = listOf(runs);
        expect([rows.length, sources.map(({ kind }) => kind)]).toEqual([1, ["audit-log"]]);
      });
      await runs.verify();
      expect(listOf(runs).sources.map(({ verdict }) => verdict?.state)).toEqual(["intact"]);
    });
  });

  it("may be gone for a while, which is a problem meanwhile", async () => {
    using folder = aFolder();
    await followed(folder, async (runs) => {
      rmSync(folder.at("runs"), { recursive: true });
      await waitFor(() => {
        const [[kind, place] = []] = shown(listOf(runs)).problems;
        expect([kind, place]).toEqual(["folder", folder.at("runs")]);
      });
      pipe(folder.at("runs"));
      await waitFor(() => {
        const [[, , problem] = []] = shown(listOf(runs)).problems;
        expect(problem).toContain("ENOTDIR");
      });
      rmSync(folder.at("runs"));
      mkdirSync(folder.at("runs"));
      copyFileSync(recording("tool_error"), folder.at("runs/d.ndjson"));
      await waitFor(() => {
        const { agents, problems } = shown(listOf(runs));
        expect([agents.length, problems]).toEqual([2, []]);
      });
    });
  });
});
