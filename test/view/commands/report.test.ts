import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ReportDocument } from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { recording } from "../../cli/support/recorded.ts";
import { ALL_RECORDINGS } from "../support/view-documents.ts";

/** A run of the recording `nested_subagent`. */
const NESTED = "01a1fbfa-4968-71c5-8c19-2e5f98e57b52";

/** The run of the recording `pause`, and the one of `resume` that continues it. */
const PAUSED = "01a1fbfa-4a5c-71d6-b1ec-8cec415f8c46";
const RESUMED = "01a1fbfa-6d3c-7a41-9c5e-2f60c1d7b8a4";

function documentIn(html: string): ReportDocument {
  const [, json = ""] =
    /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json);
}

const documentOf = (file: string) => documentIn(readFileSync(file, "utf8"));

describe("report", () => {
  it("writes one run without content, and nothing else", async () => {
    using folder = new Folder();
    const file = folder.at("run.html");
    const args = [recording("nested_subagent"), "--run", NESTED, "--out", file];
    const { code, stderr, stdout } = await command(["report", ...args]);
    expect([code, stderr, stdout]).toEqual([0, "", `1 run: ${file}\n`]);
    const { details, left_out, list } = documentOf(file);
    expect(Object.keys(details)).toEqual([NESTED]);
    expect([list.runs.map(({ run_id }) => run_id), left_out]).toEqual([[NESTED], 0]);
    const detail = details[NESTED];
    expect(detail?.content).toBe(false);
    expect(detail?.spans.length).toBeGreaterThan(3);
    const names = detail?.spans.flatMap(({ attributes }) => Object.keys(attributes)) ?? [];
    expect(names).not.toContain("gen_ai.tool.call.arguments");
    expect(detail?.rows.length).toBeGreaterThan(3);
    expect(detail?.rows.map(({ event }) => event)).toEqual(detail?.rows.map(() => undefined));
    expect(readdirSync(folder.path)).toEqual(["run.html"]);
  });

  it.each([
    ["continues it", RESUMED, PAUSED],
    ["it continues", PAUSED, RESUMED],
  ])("writes a run with the one that %s", async (_, asked, other) => {
    using folder = new Folder();
    const file = folder.at("run.html");
    const args = [recording("pause"), recording("resume"), "--run", asked, "--out", file];
    const { code, stdout } = await command(["report", ...args]);
    expect([code, stdout]).toEqual([0, `1 run and 1 run before or after a pause: ${file}\n`]);
    const { details, list } = documentOf(file);
    expect(Object.keys(details)).toEqual([asked, other]);
    expect(list.runs.map(({ key }) => key)).toEqual([asked, other]);
  });

  it("has content where that is asked for", async () => {
    using folder = new Folder();
    const file = folder.at("run.html");
    const args = [recording("nested_subagent"), "--run", NESTED, "--out", file];
    expect((await command(["report", ...args, "--capture-content"])).code).toBe(0);
    const detail = documentOf(file).details[NESTED];
    expect(detail?.content).toBe(true);
    const names = detail?.spans.flatMap(({ attributes }) => Object.keys(attributes)) ?? [];
    expect(names).toContain("gen_ai.tool.call.arguments");
    expect(detail?.rows.every(({ event }) => event !== undefined)).toBe(true);
  });

  it("has all failed runs without --run, and a trace of the same beside it", async () => {
    using folder = new Folder();
    const [html, trace] = [folder.at("failed.html"), folder.at("trace.json")];
    const args = ["--out", html, "--chrome-trace", trace];
    const { code, stdout } = await command(["report", ...ALL_RECORDINGS, ...args]);
    const { details, list } = documentOf(html);
    expect([code, stdout]).toEqual([0, `${list.runs.length} failed runs: ${html}, ${trace}\n`]);
    expect(list.runs.length).toBeGreaterThan(1);
    expect(new Set(list.runs.map(({ outcome }) => outcome))).toEqual(new Set(["failed"]));
    const spans = new Set(
      Object.values(details).flatMap((detail) => detail.spans.map(({ span_id }) => span_id)),
    );
    const events: readonly { ph: string; name: string; args: { span_id: string } }[] = JSON.parse(
      readFileSync(trace, "utf8"),
    ).traceEvents;
    const complete = events.filter(({ ph }) => ph === "X");
    expect(complete.map(({ args }) => args.span_id).sort()).toEqual([...spans].sort());
    expect(events.some(({ name, ph }) => ph === "i" && name.startsWith("failed"))).toBe(true);
  });

  it("writes to standard output, and says the rest beside it", async () => {
    const args = [recording("nested_subagent"), "--run", NESTED, "--out", "-"];
    const { code, stderr, stdout } = await command(["report", ...args]);
    expect([code, stderr]).toEqual([0, "1 run: -\n"]);
    expect(Object.keys(documentIn(stdout).details)).toEqual([NESTED]);
  });

  it("is a report of no run where none failed", async () => {
    using folder = new Folder();
    const file = folder.at("none.html");
    const { code, stdout } = await command(["report", recording("success"), "--out", file]);
    expect([code, stdout]).toEqual([0, `0 failed runs: ${file}\n`]);
    expect(documentOf(file).list.runs).toEqual([]);
  });

  it("is written also where a line is damaged, and ends with 2", async () => {
    using folder = new Folder();
    const damaged = folder.at("damaged.ndjson");
    writeFileSync(damaged, `${readFileSync(recording("nested_subagent"), "utf8")}{\n`);
    const file = folder.at("run.html");
    const { code, stderr } = await command(["report", damaged, "--run", NESTED, "--out", file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/damaged\.ndjson, line \d+: json: [^\n]+\n$/);
    expect(documentOf(file).list.sources[0]?.problem_count).toBe(1);
  });

  it("destroys nothing that it reads", async () => {
    using folder = new Folder();
    const file = folder.at("run.ndjson");
    const text = readFileSync(recording("success"), "utf8");
    writeFileSync(file, text);
    const audit = folder.at("audit");
    expect((await command(["replay", file, "--audit", audit])).code).toBe(0);
    const [segment = ""] = readdirSync(audit);
    for (const [place, out] of [
      [file, file],
      [folder.path, file],
      [audit, `${audit}/${segment}`],
    ] as const) {
      for (const option of ["--out", "--chrome-trace"]) {
        const { code, stderr } = await command(["report", place, option, out]);
        expect([code, stderr.startsWith(`entelix-otel: ${option}: `)]).toEqual([1, true]);
      }
    }
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("leaves what was there where the run is not", async () => {
    using folder = new Folder();
    const file = folder.at("run.html");
    writeFileSync(file, "before");
    const args = ["report", recording("success"), "--run", NESTED, "--out", file];
    const { code, stderr } = await command(args);
    expect(code).toBe(1);
    expect(stderr).toContain(`--run: expected a run of the sources, got ${NESTED}`);
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(readdirSync(folder.path)).toEqual(["run.html"]);
  });

  it.each([
    [[recording("success")], "expected --out FILE, --chrome-trace FILE, or both"],
    [["--out", "x.html"], "expected a source"],
    [[recording("success"), "--out", "-", "--chrome-trace", "-"], "both write to stdout"],
    [["/nowhere/a.ndjson", "--out", "x.html"], "/nowhere/a.ndjson: no such file"],
  ])("says what is wrong with %j", async (args, said) => {
    using folder = new Folder();
    const { code, stderr } = await command(["report", ...args], { cwd: folder.path });
    expect(code).toBe(1);
    expect(stderr).toContain(said);
    expect(existsSync(folder.at("x.html"))).toBe(false);
  });
});
