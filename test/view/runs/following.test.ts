import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";
import { entry, key } from "../../audit/support/entries.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, line, recording, started } from "../../cli/support/recorded.ts";
import { runs as cases } from "../../support/runs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, detailsOf, listOf, silentIo, withRuns } from "../support/opened.ts";

const FOLLOW = { follow: true, content: true, pollMs: 5 };

/** What is known of all runs, without what says when it was asked. */
async function known(runs: ViewedRuns) {
  const details = [...(await detailsOf(runs)).values()];
  return details
    .map(({ revision: _, ...detail }) => detail)
    .sort((a, b) => (a.run.key < b.run.key ? -1 : 1));
}

async function followed(places: readonly string[], work: (runs: ViewedRuns) => Promise<void>) {
  const runs = await openSources(places, FOLLOW, silentIo());
  try {
    await runs.ready();
    await work(runs);
  } finally {
    await runs.close();
  }
}

describe("a recording that grows", () => {
  it.each(["success", "nested_subagent", "two_tenants", "approval"])(
    "is in the end as if it had been read at once: %s",
    async (name) => {
      const bytes = readFileSync(recording(name));
      const whole = await withRuns([recording(name)], ALL, known);
      const pieces = fc.array(
        fc.tuple(fc.integer({ min: 0, max: bytes.length }), fc.integer({ min: 0, max: 25 })),
        { maxLength: 6 },
      );
      await fc.assert(
        fc.asyncProperty(pieces, fc.boolean(), async (cuts, hasLineEnd) => {
          using folder = new Folder();
          const file = folder.at("run.ndjson");
          writeFileSync(file, "");
          await followed([file], async (runs) => {
            const end = hasLineEnd ? bytes.length : bytes.length - 1;
            let from = 0;
            for (const [cut, wait] of [...cuts].sort(([a], [b]) => a - b)) {
              appendFileSync(file, bytes.subarray(from, Math.min(cut, end)));
              from = Math.max(from, Math.min(cut, end));
              await new Promise((resolve) => setTimeout(resolve, wait));
            }
            appendFileSync(file, bytes.subarray(from, end));
            await waitFor(async () => expect(await known(runs)).toEqual(whole));
            expect(listOf(runs).sources[0]?.problems).toEqual([]);
          });
        }),
        { numRuns: cases(40) },
      );
    },
    300_000,
  );

  it("shows a run that has no end yet, with its open spans", async () => {
    using folder = new Folder();
    const file = folder.at("run.ndjson");
    const call = { tool_use_id: "t-1", tool: "search" };
    const asked = line({
      type: "tool_start",
      ...call,
      input: { q: 1 },
      timestamp: "2026-04-29T12:00:00.5Z",
    });
    writeFileSync(file, `${started()}\n${asked}\n`);
    await followed([file], async (runs) => {
      const [run] = listOf(runs).runs;
      expect(run).toMatchObject({
        outcome: "open",
        end_ns: null,
        agent: "react",
        spans: 2,
        tenant_id: "acme",
      });
      expect(run).not.toHaveProperty("working_ms");
      const detail = await runs.detail(run?.key ?? "");
      expect(detail?.spans.map(({ end_ns, kind, name }) => [kind, name, end_ns])).toEqual([
        ["run", "invoke_agent react", null],
        ["tool", "execute_tool search", null],
      ]);
      const { revision } = listOf(runs);
      expect(listOf(runs, revision).runs).toEqual([]);
      appendFileSync(file, `${completed()}\n`);
      // Its new audit row may be there before its end.
      const ended = { outcome: "complete", working_ms: 1000, spans: 2 };
      await waitFor(() =>
        expect(listOf(runs, revision).runs).toEqual([expect.objectContaining(ended)]),
      );
    });
  });

  it.each([
    [
      "shorter",
      (file: string, text: string) => {
        truncateSync(file);
        appendFileSync(file, text);
      },
      "it is shorter now",
    ],
    [
      "another file",
      (file: string, text: string) => {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      },
      "another file has its name now",
    ],
  ])("is read again from its start when it is %s", async (_, replace, why) => {
    using folder = new Folder();
    const file = folder.at("run.ndjson");
    const other = "018f3c7a-0000-7000-8000-000000000009";
    // A problem of the old file is none of the new one.
    const old = `${started({ padding: "x".repeat(5000) })}\nno JSON\n${completed()}\n`;
    writeFileSync(file, old);
    await followed([file, recording("success")], async (runs) => {
      const before = listOf(runs);
      expect(before.runs).toHaveLength(2);
      expect(before.sources[0]?.problems).toMatchObject([{ place: file, line: 2 }]);
      replace(file, `${started({ run_id: other })}\n${completed({ run_id: other })}\n`);
      await waitFor(() => expect(listOf(runs).runs.map(({ run_id }) => run_id)).toContain(other));
      const read = () => listOf(runs).sources.map((source) => source.read);
      await waitFor(() => expect(read()).toEqual([1, 1]));
      const after = listOf(runs, before.revision);
      expect(after.all).toBe(true);
      expect(after.runs).toHaveLength(2);
      for (const { key, spans } of after.runs) {
        const detail = await runs.detail(key);
        expect([detail?.spans.length, detail?.rows.length]).toEqual([spans, detail?.run.rows]);
        expect(detail?.run.rows).toBeGreaterThan(0);
      }
      expect(after.sources[0]?.problems).toEqual([
        { place: file, problem: `${why}: it was read again from its start` },
      ]);
    });
  });
});

describe("a span file that grows", () => {
  it("is in the end as if it had been read at once, and read again when it is shorter", async () => {
    using folder = new Folder();
    const [out, file] = [folder.at("out.json"), folder.at("spans.json")];
    await command(["replay", recording("nested_subagent"), recording("success"), "--out", out]);
    const text = readFileSync(out, "utf8");
    const whole = await withRuns([out], ALL, known);
    writeFileSync(file, text.slice(0, 1000));
    await followed([file], async (runs) => {
      appendFileSync(file, text.slice(1000));
      await waitFor(async () => expect(await known(runs)).toEqual(whole));
      truncateSync(file);
      await waitFor(() => expect(listOf(runs).runs).toEqual([]));
      appendFileSync(file, text);
      await waitFor(async () => expect(await known(runs)).toEqual(whole));
      expect(listOf(runs).sources[0]?.problem_count).toBe(1);
    });
  });
});

describe("an audit log that grows", () => {
  it("shows runs while they are written, and each row once", async () => {
    using folder = new Folder();
    const [audit, recorded] = [folder.at("audit"), folder.at("all.ndjson")];
    writeFileSync(recorded, readFileSync(recording("success")));
    await (await NdjsonSessionLog.open(audit)).close();
    await followed([audit], async (runs) => {
      expect(listOf(runs).runs).toEqual([]);
      for (const name of ["success", "two_tenants", "nested_subagent"]) {
        const { code } = await command(["replay", recording(name), "--audit", audit, "--no-spans"]);
        expect(code).toBe(0);
      }
      const whole = await withRuns([audit], ALL, known);
      const rows = (all: typeof whole) =>
        all.map((detail) => [detail.run, detail.rows, detail.spans]);
      await waitFor(async () => expect(rows(await known(runs))).toEqual(rows(whole)));
      await runs.verify();
      expect(listOf(runs).sources[0]?.verdict).toMatchObject({ state: "intact", problem_count: 0 });
    });
  });

  it("has changed when its writer closes it, though no row has come", async () => {
    using folder = new Folder();
    const audit = folder.at("audit");
    const log = await NdjsonSessionLog.open(audit);
    await log.append(key, [entry("a")]);
    await followed([audit], async (runs) => {
      expect(listOf(runs).sources[0]?.verdict?.state).toBe("open");
      // A while in which nothing changes.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const { revision } = listOf(runs);
      await log.close();
      await waitFor(() => expect(listOf(runs).revision).toBeGreaterThan(revision));
      await runs.verify();
      expect(listOf(runs).sources[0]?.verdict?.state).toBe("intact");
    });
  });

  it("is read again from its start when it was cut", async () => {
    using folder = new Folder();
    const audit = folder.at("audit");
    await command([
      "replay",
      recording("success"),
      recording("approval"),
      "--audit",
      audit,
      "--no-spans",
    ]);
    const segment = `${audit}/segment-00000001.ndjson`;
    await followed([audit, recording("approval")], async (runs) => {
      const [longer, shorter] = [readFileSync(segment, "utf8"), listOf(runs).runs];
      expect(shorter).toHaveLength(2);
      // Of the first run only its first rows are left.
      const rows = longer.split("\n").slice(0, 4).join("\n");
      writeFileSync(segment, `${rows}\n`);
      await waitFor(async () => {
        const rowsOf = [...(await detailsOf(runs)).values()].map((detail) => [
          detail.run.rows,
          detail.rows.length,
          detail.rows_from,
        ]);
        expect(rowsOf.sort()).toEqual([
          [3, 3, "log"],
          [expect.any(Number), expect.any(Number), "replay"],
        ]);
      });
      expect(listOf(runs).all).toBe(true);
      await runs.verify();
      expect(listOf(runs).sources[1]?.verdict?.state).toBe("unclosed");
      expect(listOf(runs).sources.flatMap(({ problems }) => problems)).toEqual([
        { place: audit, problem: "it is shorter now: it was read again from its start" },
      ]);
    });
  });
});
