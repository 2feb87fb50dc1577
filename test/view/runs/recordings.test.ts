import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunDetail, ViewSpan } from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { type LineSpan, readSpans } from "../../cli/support/otlp-lines.ts";
import { recording } from "../../cli/support/recorded.ts";
import { ALL, detailsOf, listOf, withRuns } from "../support/opened.ts";

const NAMES = readdirSync(recording("success").replace(/[^/]+$/, ""))
  .filter((name) => name.endsWith(".ndjson"))
  .map((name) => name.replace(/\.ndjson$/, ""));

const OPERATIONS: Readonly<Record<string, string>> = {
  invoke_agent: "run",
  execute_tool: "tool",
  chat: "model",
};

/** What has to be equal of a span that was written and one that is shown. */
function written(span: LineSpan) {
  const text = (name: string) => JSON.stringify(span.values[name] ?? null);
  const operation = /"stringValue":"(\w+)"/.exec(text("gen_ai.operation.name"))?.[1] ?? "";
  return {
    ids: [span.traceId, span.spanId, span.parentSpanId ?? ""],
    name: span.name,
    times: [span.startTimeUnixNano, span.endTimeUnixNano],
    kind: OPERATIONS[operation] ?? "other",
    failed: span.status.code === 2,
    message: span.status.message ?? "",
    attributes: Object.keys(span.values).sort(),
  };
}

function shown(span: ViewSpan) {
  return {
    ids: [span.trace_id, span.span_id, span.parent_span_id ?? ""],
    name: span.name,
    times: [span.start_ns, span.end_ns],
    kind: span.kind,
    failed: span.failed,
    message: span.message ?? "",
    attributes: Object.keys(span.attributes).sort(),
  };
}

function inOrder<T extends { ids: readonly string[] }>(spans: readonly T[]): T[] {
  return [...spans].sort((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1));
}

/** Spans of several runs, each once: a run has those of its child runs as well. */
function distinct(details: Iterable<RunDetail>): ViewSpan[] {
  const spans = [...details].flatMap((detail) => detail.spans);
  return [...new Map(spans.map((span) => [`${span.trace_id}/${span.span_id}`, span])).values()];
}

describe.each(NAMES)("the recording %s", (name) => {
  const folder = new Folder();
  const [out, audit] = [folder.at("spans.json"), folder.at("audit")];
  let rowsShown: unknown[] = [];

  beforeAll(async () => {
    const outputs = ["--capture-content", "--out", out, "--audit", audit];
    const { code } = await command(["replay", recording(name), ...outputs]);
    const { stdout } = await command(["audit", "show", "--json", audit]);
    expect(code).toBe(0);
    rowsShown = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  });
  afterAll(() => folder[Symbol.dispose]());

  it("has the spans that a replay writes", async () => {
    await withRuns([recording(name)], ALL, async (runs) => {
      const spans = distinct((await detailsOf(runs)).values());
      expect(inOrder(spans.map(shown))).toEqual(inOrder(readSpans(out).map(written)));
      const { other_spans, runs: listed, sources } = listOf(runs);
      const counted = listed.reduce((sum, run) => sum + run.spans, 0);
      expect([counted, other_spans]).toEqual([spans.length, 0]);
      expect(sources).toEqual([
        {
          name: recording(name),
          kind: "recording",
          followed: false,
          read: 1,
          problem_count: 0,
          problems: [],
        },
      ]);
    });
  });

  it("has the rows that a replay writes", async () => {
    await withRuns([recording(name)], ALL, async (runs) => {
      const rows = [...(await detailsOf(runs)).values()].flatMap((detail) => {
        expect(detail.rows_from).toBe("replay");
        return detail.rows;
      });
      const own = [...new Map(rows.map((row) => [row.hash, row])).values()];
      const facts = own.map(({ kind: _, timestamp: __, ...row }) => row);
      const sorted = (all: readonly unknown[]) =>
        all.map((row) => JSON.stringify(row, null, 1).split("\n").sort().join()).sort();
      expect(sorted(facts)).toEqual(sorted(rowsShown));
    });
  });

  it("is the same from the spans that a replay writes", async () => {
    const fromRecording = await withRuns([recording(name)], ALL, detailsOf);
    const fromSpans = await withRuns([out], ALL, detailsOf);
    expect([...fromSpans.keys()].sort()).toEqual([...fromRecording.keys()].sort());
    for (const [key, { run, spans }] of fromSpans) {
      expect(spans.map(({ attributes: _, ...span }) => span)).toEqual(
        fromRecording.get(key)?.spans.map(({ attributes: _, ...span }) => span),
      );
      expect({ ...run, rows: 0 }).toEqual({ ...fromRecording.get(key)?.run, rows: 0 });
    }
  });

  it("has in its audit log the ids of its spans, and its rows", async () => {
    const fromLog = await withRuns([audit], ALL, detailsOf);
    const live = readSpans(out).map(({ spanId, traceId }) => `${traceId}/${spanId}`);
    const spans = distinct(fromLog.values());
    const runSpans = spans.filter(({ kind }) => kind === "run");
    expect(runSpans.length).toBeGreaterThan(0);
    for (const { span_id, trace_id } of runSpans) expect(live).toContain(`${trace_id}/${span_id}`);
    for (const { rows, rows_from, verdict } of fromLog.values()) {
      expect([rows_from, verdict?.state, verdict?.text]).toEqual([
        "log",
        "intact",
        "intact, closed",
      ]);
      expect(rows.length).toBeGreaterThan(0);
    }
  });
});
