import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRun } from "../../../src/view/format.ts";
import {
  failureBars,
  MOST_BARS,
  MOST_KINDS,
  OTHER_KINDS,
  UNKNOWN_KIND,
} from "../../../src/view/model/failure-bars.ts";
import { atSecond, rowsOf, viewRun } from "./runs.ts";

const failed = (second: number, kind?: string): ViewRun =>
  viewRun(`${second} ${kind}`, {
    ...atSecond(second),
    outcome: "failed",
    ...(kind === undefined ? {} : { failure_kind: kind }),
  });

describe("the bars of failures", () => {
  it("count failed runs by kind, the most frequent first, over the time of all runs", () => {
    const rows = rowsOf(
      failed(2, "internal"),
      failed(3, "cancelled"),
      failed(4, "cancelled"),
      failed(61),
      viewRun("good", { ...atSecond(290), outcome: "complete" }),
    );
    const { bars, highest, kinds } = failureBars(rows, 0);
    expect([...kinds]).toEqual([
      ["cancelled", 2],
      ["internal", 1],
      [UNKNOWN_KIND, 1],
    ]);
    // 288 s in bars of 5 s.
    expect([bars.length, highest]).toEqual([59, 3]);
    const filled = bars.flatMap((bar, at) => (bar.runs === 0 ? [] : [[at, bar.runs, bar.failed]]));
    expect(filled).toEqual([
      [0, 3, 3],
      [12, 1, 1],
      [58, 1, 0],
    ]);
    expect([...(bars[0]?.byKind ?? [])]).toEqual([
      ["cancelled", 2],
      ["internal", 1],
      [UNKNOWN_KIND, 0],
    ]);
    expect([bars[1]?.fromMs, bars[1]?.toMs]).toEqual([1_764_172_805_000, 1_764_172_810_000]);
  });

  it("are there where no run failed, and none where there is no run", () => {
    const { bars, highest, kinds } = failureBars(rowsOf(viewRun("good")), 0);
    expect([bars.map(({ failed: n, runs }) => [runs, n]), highest, kinds.size]).toEqual([
      [[1, 0]],
      1,
      0,
    ]);
    expect(failureBars([], 0)).toEqual({ bars: [], kinds: new Map(), highest: 0 });
  });

  it("of a day begin at midnight of the reader", () => {
    const { bars } = failureBars(rowsOf(failed(0, "a"), failed(59 * 86_400, "a")), 330);
    expect(new Date((bars[0]?.fromMs ?? 0) + 330 * 60_000).toISOString()).toBe(
      "2025-11-26T00:00:00.000Z",
    );
  });

  it("put rare kinds together", () => {
    const many = Array.from({ length: 12 }, (_, at) => failed(at, `kind ${at}`));
    const { kinds } = failureBars(rowsOf(...many), 0);
    expect([kinds.size, kinds.get(OTHER_KINDS)]).toEqual([MOST_KINDS + 1, 12 - MOST_KINDS]);
  });

  it("hold each run once, in its time, and are few", () => {
    const seconds = fc.array(fc.integer({ min: 0, max: 2e9 }), { minLength: 1, maxLength: 40 });
    const runAt = (n: number) =>
      n % 3 > 0 ? failed(n, `${n % 9}`) : viewRun(`${n}`, { ...atSecond(n), outcome: "complete" });
    fc.assert(
      fc.property(seconds, fc.integer({ min: -720, max: 840 }), (all, offset) => {
        const rows = rowsOf(...new Map(all.map((n) => [n, runAt(n)])).values());
        const { bars } = failureBars(rows, offset);
        expect(bars.length).toBeLessThanOrEqual(MOST_BARS);
        for (const { byKind, failed: bad, fromMs, runs, toMs } of bars) {
          const inside = rows.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
          expect(runs).toBe(inside.length);
          expect(bad).toBe(inside.filter(({ run }) => run.outcome === "failed").length);
          expect([...byKind.values()].reduce((sum, n) => sum + n, 0)).toBe(bad);
        }
        expect(bars.reduce((sum, { runs }) => sum + runs, 0)).toBe(rows.length);
      }),
    );
  });
});
