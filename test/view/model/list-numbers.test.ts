import { describe, expect, it } from "vitest";
import { agoText } from "../../../src/view/model/formats.ts";
import { numbersOf, shareText } from "../../../src/view/model/list-numbers.ts";
import { rowsOf, viewRun } from "./runs.ts";

describe("the numbers above the list", () => {
  it("are those of the rows", () => {
    const rows = rowsOf(
      ...Array.from({ length: 100 }, (_, at) =>
        viewRun(`${at}`, {
          outcome: at < 7 ? "failed" : at < 9 ? "interrupted" : "complete",
          working_ms: 100 - at,
          input_tokens: 10,
          cost_usd: at === 0 ? "unknown" : "0.01",
        }),
      ),
    );
    const { cost, ...numbers } = numbersOf(rows);
    expect(numbers).toEqual({
      runs: 100,
      failed: 7,
      waiting: 2,
      durations: { shortest: 1, p50: 50, p95: 95, longest: 100 },
      input: 1000,
    });
    expect(cost).toBeCloseTo(0.99, 9);
  });

  it("are absent where no run has a value", () => {
    expect(numbersOf(rowsOf(viewRun("open")))).toEqual({ runs: 1, failed: 0, waiting: 0 });
    expect(numbersOf([])).toEqual({ runs: 0, failed: 0, waiting: 0 });
  });

  it("count tokens of a sub-run once: its parent has them", () => {
    const usage = { input_tokens: 5, output_tokens: 2, cost_usd: "1" };
    const child = viewRun("child", { ...usage, parent_run_id: "parent" });
    const both = numbersOf(rowsOf(viewRun("parent", usage), child));
    expect(both).toMatchObject({ runs: 2, input: 5, output: 2, cost: 1 });
    expect(numbersOf(rowsOf(child))).toMatchObject({ runs: 1, input: 5 });
  });

  it.each([
    [0, 5, "0%"],
    [5, 5, "100%"],
    [154, 2000, "7.7%"],
    [1, 100_000, "0.1%"],
    [99_999, 100_000, "99.9%"],
    [1, 3, "33%"],
    [0, 0, "0%"],
  ])("say %i of %i as %s", (part, all, text) => {
    expect(shareText(part, all)).toBe(text);
  });
});

describe("a relative time", () => {
  it.each([
    [0, "0 s ago"],
    [59_999, "59 s ago"],
    [60_000, "1 min ago"],
    [3_600_000, "1 h ago"],
    [86_399_000, "23 h ago"],
    [8.5 * 86_400_000, "8 d ago"],
    [-1, undefined],
    [Number.NaN, undefined],
  ])("of %d ms is %s", (ms, text) => {
    expect(agoText(1e12 - ms, 1e12)).toBe(text);
  });
});
