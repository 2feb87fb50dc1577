import { describe, expect, it } from "vitest";
import { axisEnd, runModel } from "../../../src/view/model/run-model.ts";
import { roundTimes } from "../../../src/view/model/time-axis.ts";
import { runDetail, T0, viewSpan } from "../support/view-span.ts";

describe("the ticks of the axis", () => {
  it.each([
    [100, 6, [0, 20, 40, 60, 80, 100]],
    [64, 5, [0, 20, 40, 60]],
    [0.35, 5, [0, 0.1, 0.2, 0.3]],
    [10_000, 6, [0, 2000, 4000, 6000, 8000, 10_000]],
    [7_200_000, 5, [0, 1_800_000, 3_600_000, 5_400_000, 7_200_000]],
    [200_000_000, 4, [0, 86_400_000, 172_800_000]],
    [0, 5, [0]],
    [Number.NaN, 5, [0]],
  ])("of %d ms with at most %i labels are %j", (length, most, times) => {
    const found = roundTimes(length, most).map((time) => Number(time.toPrecision(12)));
    expect(found).toEqual(times);
  });
});

describe("the end of the axis", () => {
  const open = runDetail([
    viewSpan("a", undefined, { from: 0, to: null }),
    viewSpan("b", "a", { from: 5, to: 40 }),
  ]);
  const model = runModel({ ...open, run: { ...open.run, end_ns: null, outcome: "open" } });
  const now = Number(T0) / 1e6 + 5000;

  it("is the present while the run is open", () => {
    expect(axisEnd(model, now)).toBeCloseTo(5000, 2);
  });

  it("is the last time that is known: in a report, after the end, or a day after the last event", () => {
    expect(axisEnd(model, undefined)).toBe(40);
    expect(axisEnd(runModel(open), now)).toBe(40);
    expect(axisEnd(model, now + 90_000_000)).toBe(40);
  });
});
