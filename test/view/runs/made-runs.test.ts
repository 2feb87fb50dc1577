import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ReplayJob } from "../../../src/cli/door.ts";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { RunPart } from "../../../src/view/run-parts.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, line, recording, started } from "../../cli/support/recorded.ts";
import { runs as cases } from "../../support/runs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, detailsOf, listOf, silentIo, withRuns } from "../support/opened.ts";

const FOLLOW = { follow: true, content: true, pollMs: 5 };
const FILES = readdirSync(dirname(recording("success")))
  .filter((name) => name.endsWith(".ndjson"))
  .map((name) =>
    readFileSync(recording(name.replace(".ndjson", "")), "utf8")
      .trimEnd()
      .split("\n"),
  );

async function followed<T>(places: readonly string[], work: (runs: ViewedRuns) => Promise<T>) {
  const runs = await openSources(places, FOLLOW, silentIo());
  try {
    await runs.ready();
    return await work(runs);
  } finally {
    await runs.close();
  }
}

async function known(runs: ViewedRuns) {
  const details = [...(await detailsOf(runs)).values()];
  return details
    .map(({ revision: _, ...detail }) => detail)
    .sort((a, b) => (a.run.key < b.run.key ? -1 : 1));
}

/** The lines of several files, those of each in their order. */
function mixed(files: readonly (readonly string[])[], picks: readonly number[]): string {
  const left = files.map((lines) => [...lines]);
  const all: string[] = [];
  for (const pick of picks) all.push(...(left[pick % left.length]?.splice(0, 1) ?? []));
  return `${[...all, ...left.flat()].join("\n")}\n`;
}

describe("the runs of a recording that is followed", () => {
  it("are made of their lines when they are opened, as if all had been made at once", async () => {
    const picks = fc.array(fc.nat(FILES.length - 1), { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(picks, async (order) => {
        using folder = new Folder();
        const file = folder.at("mixed.ndjson");
        writeFileSync(file, mixed(FILES, order));
        const eager = await withRuns([file], ALL, known);
        expect(eager.length).toBeGreaterThan(9);
        expect(eager.every(({ rows }) => rows.length > 0)).toBe(true);
        expect(await followed([file], known)).toEqual(eager);
      }),
      { numRuns: cases(20) },
    );
  }, 120_000);

  it("cost the lines of their thread and trace, once", async () => {
    using folder = new Folder();
    const file = folder.at("mixed.ndjson");
    writeFileSync(file, mixed(FILES, []));
    const playAgain = vi.spyOn(ReplayJob.prototype, "playAgain");
    try {
      await followed([file], async (runs) => {
        expect(playAgain).not.toHaveBeenCalled();
        const [nested] = listOf(runs).runs.filter(({ child_runs }) => child_runs > 0);
        const detail = await runs.detail(nested?.key ?? "");
        const lines = playAgain.mock.calls.length;
        expect(detail?.spans.length).toBeGreaterThan(3);
        expect(lines).toBeGreaterThan(4);
        expect(lines).toBeLessThan(FILES.flat().length / 3);
        expect(await runs.detail(nested?.key ?? "")).toEqual(detail);
        expect(playAgain).toHaveBeenCalledTimes(lines);
      });
    } finally {
      playAgain.mockRestore();
    }
  });

  it("have rows whose chain has those of the runs before in their thread", async () => {
    using folder = new Folder();
    const file = folder.at("thread.ndjson");
    const second = { run_id: "01a1fbfa-0000-7000-8000-000000000002", timestamp: later(60) };
    const lines = [
      started({ thread_id: "t" }),
      completed({ thread_id: "t" }),
      started({ thread_id: "t", ...second }),
      completed({ thread_id: "t", ...second, timestamp: later(61) }),
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    const eager = await withRuns([file], ALL, known);
    await followed([file], async (runs) => {
      const detail = await runs.detail(second.run_id);
      expect(detail?.rows.map(({ ordinal }) => ordinal)).toEqual([3, 4]);
      expect(detail?.run.rows).toBe(2);
      expect(await known(runs)).toEqual(eager);
    });
  });

  it("are in the list again after another source was replaced", async () => {
    using folder = new Folder();
    const [file, spans] = [folder.at("mixed.ndjson"), folder.at("spans.json")];
    writeFileSync(file, mixed(FILES, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    const replayed = folder.at("other.ndjson");
    const other = "01a1fbfa-0000-7000-8000-000000000009";
    writeFileSync(replayed, `${started({ run_id: other })}\n${completed({ run_id: other })}\n`);
    await command(["replay", replayed, "--out", spans]);
    await followed([file, spans], async (runs) => {
      const keys = () =>
        listOf(runs)
          .runs.map(({ key }) => key)
          .sort();
      const before = keys();
      expect(before).toContain(other);
      const whole = await known(runs);
      writeFileSync(spans, "\n");
      await waitFor(() => expect(keys()).toEqual(before.filter((key) => key !== other)));
      await waitFor(async () =>
        expect(await known(runs)).toEqual(whole.filter(({ run }) => run.key !== other)),
      );
    });
  });
});

it("a long run says how much of it is made, before its spans", async () => {
  using folder = new Folder();
  const file = folder.at("long.ndjson");
  const calls = Array.from({ length: 1_500 }, (_, n) => {
    const call = { tool_use_id: `t-${n}`, tool: "search" };
    const timestamp = later(n / 2_000);
    return [
      line({ type: "tool_start", ...call, input: {}, timestamp }),
      line({ type: "tool_complete", ...call, duration_ms: 0, output: "x", timestamp }),
    ];
  });
  writeFileSync(file, `${[started(), ...calls.flat(), completed()].join("\n")}\n`);
  await followed([file], async (runs) => {
    const [{ key = "" } = {}] = listOf(runs).runs;
    const parts: RunPart[] = [];
    for await (const text of runs.parts(key)?.lines() ?? []) parts.push(JSON.parse(text));
    const made = parts.flatMap((part) => part.made ?? []);
    expect(made.length).toBeGreaterThan(0);
    expect(made.every((share) => share > 0 && share < 1)).toBe(true);
    expect(parts.findIndex(({ spans }) => spans !== undefined)).toBe(made.length);
    expect(parts.flatMap(({ spans = [] }) => spans)).toHaveLength(1_501);
  });
});

function later(seconds: number): string {
  return new Date(Date.parse("2026-04-29T12:00:00Z") + seconds * 1000).toISOString();
}

it("a run that goes on is made again", async () => {
  using folder = new Folder();
  const file = folder.at("run.ndjson");
  writeFileSync(file, `${started()}\n`);
  await followed([file], async (runs) => {
    const [{ key = "" } = {}] = listOf(runs).runs;
    expect((await runs.detail(key))?.spans).toMatchObject([{ end_ns: null }]);
    const call = { tool_use_id: "t-1", tool: "search" };
    const timestamp = "2026-04-29T12:00:00.5Z";
    writeFileSync(
      file,
      `${started()}\n${line({ type: "tool_start", ...call, input: {}, timestamp })}\n${completed()}\n`,
    );
    await waitFor(async () => {
      const detail = await runs.detail(key);
      expect(detail?.spans.map(({ end_ns }) => end_ns === null)).toEqual([false, false]);
      expect(detail?.rows.length).toBeGreaterThan(1);
    });
  });
});
