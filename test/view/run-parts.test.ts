import { describe, expect, it } from "vitest";
import type { RunDetail } from "../../src/view/format.ts";
import { partLines, type RunHead, type RunPart, RunReader } from "../../src/view/run-parts.ts";
import { runDetail, toolSpan, viewRow } from "./support/view-span.ts";

const MANY = 3_000;

function detailOf(): RunDetail {
  const spans = Array.from({ length: MANY }, (_, n) =>
    toolSpan(`${n}`, "run", { from: n, to: n + 1 }, { message: "é\n".repeat(40) }),
  );
  return runDetail(spans, { rows: Array.from({ length: 40 }, (_, at) => viewRow(at + 1)) });
}

function linesOf({ rows, spans }: RunDetail): string[] {
  return [
    ...partLines("spans", spans),
    ...partLines("rows", rows),
    `${JSON.stringify({ end: true })}\n`,
  ];
}

function readBack(lines: readonly string[], { rows: _, spans, ...head }: RunDetail) {
  const reader = new RunReader();
  const counts: number[] = [];
  for (const line of lines) {
    const part: RunPart = JSON.parse(line);
    reader.add(part);
    counts.push(reader.spans);
  }
  const whole: RunHead = { ...head, span_count: spans.length };
  return { counts, whole: () => reader.whole(whole) };
}

describe("a run in parts", () => {
  it("is the run when its parts are put together, and counts its spans on the way", () => {
    const detail = detailOf();
    const lines = linesOf(detail);
    for (const line of lines) expect(line.indexOf("\n")).toBe(line.length - 1);
    const { counts, whole } = readBack(lines, detail);
    // The list did not know the rows.
    expect(whole()).toEqual({ ...detail, run: { ...detail.run, rows: 40 } });
    expect(counts.at(-1)).toBe(MANY);
    const between = counts.filter((count) => count > 0 && count < MANY);
    expect(new Set(between).size).toBeGreaterThan(2);
  });

  it("is an error if the last part is missing", () => {
    const detail = detailOf();
    const { whole } = readBack(linesOf(detail).slice(0, -1), detail);
    expect(whole).toThrow("ended early");
  });

  it("is the error of the server if that could not read the rest", () => {
    const lines = [...partLines("spans", detailOf().spans), '{"error":"The disk is gone."}\n'];
    expect(() => readBack(lines, detailOf())).toThrow("The disk is gone.");
  });

  it("has no line for nothing", () => {
    expect([...partLines("rows", [])]).toEqual([]);
  });
});
