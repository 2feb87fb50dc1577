import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { lanesOf, mergedBars, mergedMarks, spanAt } from "../../../src/view/model/lanes.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { waitsOf } from "../../../src/view/model/waits.ts";
import { runs } from "../../support/runs.ts";
import { runSpan, type SpanTimes, toolSpan, viewSpan } from "../support/view-span.ts";

/** A span that no run of this package's made. */
function ofOthers(id: string, parent: string | undefined, times: SpanTimes): ViewSpan {
  const { run_id: _, ...span } = viewSpan(id, parent, times, { kind: "other" });
  return span;
}

describe("the lanes", () => {
  const helper = { run_id: "child", attributes: { "gen_ai.agent.name": "helper" } };
  const paused = { attributes: { "entelix.run.outcome": "interrupted" } };
  const tree = spanTree([
    runSpan("one", undefined, { from: 0, to: 10 }, paused),
    runSpan("two", undefined, { from: 30, to: 90 }),
    toolSpan("ask", "two", { from: 31, to: 80 }),
    runSpan("child", "ask", { from: 32, to: 70 }, helper),
    toolSpan("look", "child", { from: 33, to: 40 }, { run_id: "child" }),
    ofOthers("service", "look", { from: 34, to: 35 }),
    ofOthers("stray", undefined, { from: 95, to: 96 }),
  ]);
  const failures = tree.nodes.filter(({ id }) => id === "look" || id === "ask");
  const lanes = lanesOf(tree, waitsOf(tree), failures);

  it("are one for each run of an agent, with all its segments, and one for each sub-agent", () => {
    expect(
      lanes.map(({ agent, depth, nodes }) => ({
        agent,
        depth,
        spans: Object.fromEntries([...nodes].map(([kind, own]) => [kind, own.map(({ id }) => id)])),
      })),
    ).toEqual([
      { agent: "planner", depth: 0, spans: { run: ["one", "two"], tool: ["ask"] } },
      { agent: "helper", depth: 1, spans: { run: ["child"], tool: ["look"], other: ["service"] } },
      { agent: "stray", depth: 0, spans: { other: ["stray"] } },
    ]);
  });

  it("have the waits of their run", () => {
    expect(lanes.map(({ waits }) => waits)).toEqual([
      [{ kind: "pause", start: 10, end: 30 }],
      [],
      [],
    ]);
  });

  it("have the failures of their run, without those of sub-agents", () => {
    expect(lanes.map(({ failures: own }) => own.map(({ id }) => id))).toEqual([
      ["ask"],
      ["look"],
      [],
    ]);
  });

  it("find the span at a pixel: the shortest there, else the nearest within reach", () => {
    const nodes = tree.nodes;
    const at = (x: number, within: number) => spanAt(nodes, x, (time) => time, 100, within)?.id;
    expect(at(34.5, 0)).toBe("service");
    expect(at(94, 2)).toBe("stray");
    expect(at(20, 5)).toBeUndefined();
  });

  it("find no span that is far away on the axis, however near in time", () => {
    // The pause from 10 to 30 is two pixels wide, the rest ten times as wide as it is long.
    const scale = (time: number) => (time < 10 ? 10 * time : 102 + 10 * (time - 30));
    const calls = tree.nodes.filter(({ id }) => id === "look");
    expect(spanAt(calls, 128, scale, 100, 6)?.id).toBe("look");
    expect(spanAt(calls, 104, scale, 100, 6)).toBeUndefined();
  });
});

describe("bars", () => {
  it("cover every pixel that a span touches, and no more than one bar in two pixels", () => {
    const span = fc.record({ start: fc.nat({ max: 5000 }), length: fc.nat({ max: 50 }) });
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 200 }),
        fc.integer({ min: 10, max: 500 }),
        (given, width) => {
          const spans = given
            .map(({ start, length }) => ({ start, end: start + length }))
            .sort((one, other) => one.start - other.start);
          const scale = (time: number) => (time / 5050) * width;
          const bars = mergedBars(spans, scale, 0);
          for (const { start, end } of spans) {
            const holds = bars.some(({ from, to }) => from <= scale(start) && scale(end) <= to);
            expect(holds).toBe(true);
          }
          for (const [at, { from, to }] of bars.entries()) {
            expect(to).toBeGreaterThan(from);
            expect(from).toBeGreaterThan(bars[at - 1]?.to ?? -1);
          }
          expect(bars.length).toBeLessThanOrEqual(width / 2 + 1);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("end at the present where a span is open", () => {
    expect(mergedBars([{ start: 10, end: undefined }], (time) => time, 60)).toEqual([
      { from: 10, to: 60 },
    ]);
  });
});

describe("marks", () => {
  it("stand at the ends of spans, and do not overlap, however many there are", () => {
    const span = fc.record({ start: fc.nat({ max: 5000 }), length: fc.nat({ max: 50 }) });
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 200 }),
        fc.integer({ min: 10, max: 500 }),
        (given, width) => {
          const ends = given.map(({ start, length }) => ({ start, end: start + length }));
          const scale = (time: number) => (time / 5050) * width;
          const sorted = ends.sort((one, other) => one.end - other.end);
          const marks = mergedMarks(sorted, scale, 0);
          for (const { end } of sorted) {
            expect(marks.some((at) => Math.abs(at - scale(end)) <= 3)).toBe(true);
          }
          for (const [index, at] of marks.entries()) {
            expect(at - (marks[index - 1] ?? -3)).toBeGreaterThanOrEqual(3);
          }
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
