import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readLines } from "../support/golden.ts";
import { command } from "./support/any-process.ts";
import { Folder } from "./support/folder.ts";
import { readSpans, spanSet } from "./support/otlp-lines.ts";

/** A generator with a seed, so that a failure can be seen again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

const AGENTS = ["planner", "react", "coordinator"];

/** Interleaved runs of three tenants, many events at the same millisecond, some runs nested. */
function stream(runs: number, seed: number): string[] {
  const next = random(seed);
  const pick = (most: number) => Math.floor(next() * most);
  const lines: { at: number; text: string }[] = [];
  for (let run = 0; run < runs; run++) {
    const run_id = `018f3c7a-0000-7000-8000-${String(run).padStart(12, "0")}`;
    const parent =
      run % 5 === 0 ? `018f3c7a-0000-7000-8000-${String(run + 1).padStart(12, "0")}` : null;
    const tenant_id = `tenant-${Math.floor(run / 2) % 3}`;
    let at = Math.floor(run / 4) * 20 + (parent === null ? 0 : 3);
    let sequence = 0;
    const add = (fields: Record<string, unknown>) => {
      const timestamp = new Date(Date.UTC(2026, 3, 29, 12) + at).toISOString();
      const event_id = `e-${run}-${sequence}`;
      const text = JSON.stringify({ event_id, sequence, timestamp, ...fields, run_id, tenant_id });
      lines.push({ at, text });
      sequence++;
      at += pick(3);
    };
    add({ type: "started", parent_run_id: parent, agent: AGENTS[pick(3)] });
    for (let call = 0; call < 3; call++) {
      const tool = { tool_use_id: `call-${pick(2)}`, tool: "search", tool_version: null };
      add({ type: "tool_start", ...tool, input: {} });
      add({ type: "tool_complete", ...tool, duration_ms: 1, output: {} });
    }
    if (parent === null) at += 20;
    add({ type: "complete", state: null, usage: null });
  }
  return lines.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

/** Shuffles each window of lines. */
function shuffled(lines: readonly string[], window: number, seed: number): string[] {
  const next = random(seed);
  const result: string[] = [];
  for (let start = 0; start < lines.length; start += window) {
    const part = lines.slice(start, start + window);
    for (let at = part.length - 1; at > 0; at--) {
      const other = Math.floor(next() * (at + 1));
      const [a = "", b = ""] = [part[at], part[other]];
      part[at] = b;
      part[other] = a;
    }
    result.push(...part);
  }
  return result;
}

describe("the same recording gives the same set of spans", () => {
  it("twice, with duplicated lines, and shuffled within windows of 64", async () => {
    using folder = new Folder();
    const lines = stream(60, 7);
    const duplicated = lines.flatMap((line, at) => (at % 3 === 0 ? [line, line] : [line]));
    const variants = {
      plain: lines,
      again: lines,
      "every third line twice": duplicated,
      "one after the other, twice": [...lines, ...lines],
      "shuffled 1": shuffled(lines, 64, 1),
      "shuffled 2": shuffled(lines, 64, 2),
      "duplicated and shuffled": shuffled(duplicated, 64, 3),
    };
    const sets = await Promise.all(
      Object.entries(variants).map(async ([name, variant]) => {
        const file = folder.at(`${name}.ndjson`);
        writeFileSync(file, `${variant.join("\n")}\n`);
        const args = ["replay", file, "--out", `${file}.spans`, "--json"];
        const { code, stdout } = await command(args);
        expect([name, code]).toEqual([name, 0]);
        const summary: { late: number } = JSON.parse(stdout);
        if (name !== "one after the other, twice") expect([name, summary.late]).toEqual([name, 0]);
        return spanSet(`${file}.spans`);
      }),
    );
    expect(sets[0]).toHaveLength(60 * 4);
    for (const set of sets) expect(set).toEqual(sets[0]);
  });

  it("for the recorded runs, with an audit log whose anchors stand on the spans", async () => {
    using folder = new Folder();
    const lines = ["success", "nested_subagent", "two_tenants", "pause"].flatMap((name) =>
      readLines(`../recordings/${name}.ndjson`),
    );
    const spans: string[][] = [];
    for (const [at, variant] of [lines, shuffled(lines, 64, 5), [...lines, ...lines]].entries()) {
      const file = folder.at(`${at}.ndjson`);
      writeFileSync(file, variant.join("\n"));
      const args = ["replay", file, "--out", `${file}.spans`, "--audit", folder.at(`audit-${at}`)];
      expect((await command(args)).code).toBe(0);
      spans.push(spanSet(`${file}.spans`));
    }
    expect(spans[1]).toEqual(spans[0]);
    expect(spans[2]).toEqual(spans[0]);
    const anchored = readSpans(folder.at("0.ndjson.spans")).filter(
      (span) => span.values["entelix.audit.hash"] !== undefined,
    );
    expect(anchored).toHaveLength(6);
  });
});
