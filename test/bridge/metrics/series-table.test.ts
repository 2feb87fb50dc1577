import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountOf, decimalOf } from "../../../src/bridge/metrics/figures.ts";
import { LabelValues } from "../../../src/bridge/metrics/label-values.ts";
import { OTHER } from "../../../src/bridge/metrics/metric-names.ts";
import { MOST_SERIES, SeriesTable } from "../../../src/bridge/metrics/series-table.ts";

const AGENT = "gen_ai.agent.name";
const TENANT = "entelix.tenant_id";

describe("SeriesTable", () => {
  it("gives the same series for the same values", () => {
    const table = new SeriesTable("entelix.runs.active", [AGENT, TENANT]);
    const series = table.of("react", "acme");
    expect(series.attributes).toEqual({ [AGENT]: "react", [TENANT]: "acme" });
    expect(table.of("react", "acme")).toBe(series);
    expect(table.of("acme", "react")).not.toBe(series);
    expect(table.size).toBe(2);
  });

  it("leaves out what has no value, and takes text that looks like two values for one", () => {
    const table = new SeriesTable("gen_ai.invoke_agent.duration", [AGENT]);
    expect(table.of("a", undefined).attributes).toEqual({ [AGENT]: "a" });
    expect(table.of('a",null', undefined)).not.toBe(table.of("a", undefined));
  });

  it("gives up the agent first, then the tenant, and keeps room for what is left", () => {
    const table = new SeriesTable("entelix.runs.active", [AGENT, TENANT]);
    for (let n = 0; n < 1330; n++) {
      expect(table.of(`a${n}`, `t${n}`).replaced).toEqual([]);
    }
    const coarser = table.of("a2000", "t2000");
    expect(coarser.attributes).toEqual({ [AGENT]: OTHER, [TENANT]: "t2000" });
    expect(coarser.replaced).toEqual([AGENT]);
    expect(table.of("a2001", "t2000")).toBe(coarser);
    for (let n = 2001; table.size < 1862; n++) table.of("a", `t${n}`);
    expect(table.of("a", "t9999").attributes).toEqual({ [AGENT]: OTHER, [TENANT]: OTHER });
    // What was there before stays exact.
    expect(table.of("a7", "t7").replaced).toEqual([]);
  });

  it("never has more than 1,900, whatever comes, and keeps the kinds", () => {
    const name = fc.integer({ min: 0, max: 400 }).map(String);
    const kind = fc.constantFrom("auth", "quota", "transient");
    fc.assert(
      fc.property(fc.array(fc.tuple(name, kind, name, name), { maxLength: 6000 }), (all) => {
        const metric = "entelix.tool.failures";
        const table = new SeriesTable(metric, [AGENT, TENANT, "gen_ai.tool.name"]);
        for (const values of all) {
          const series = table.of(...values);
          expect(series.attributes["entelix.tool.error_kind"]).toBe(values[1]);
          series.value++;
        }
        const counted = [...table.all()].reduce((sum, { value }) => sum + value, 0);
        expect(counted).toBe(all.length);
        expect(table.size).toBeLessThanOrEqual(MOST_SERIES);
      }),
      { numRuns: 10, examples: [[wide()]] },
    );
  });
});

/** More than fit, each of its own. */
function wide(): [string, string, string, string][] {
  return Array.from({ length: 6000 }, (_, n) => [`${n}`, "auth", `${n % 700}`, `${n}`]);
}

describe("LabelValues", () => {
  it("shows the first names, and those for good", () => {
    const values = new LabelValues(2);
    expect(["a", "b", "c", "a", "b", undefined].map((name) => values.of(name))).toEqual([
      "a",
      "b",
      OTHER,
      "a",
      "b",
      "unknown",
    ]);
  });

  it("shows those of a list, whenever they come", () => {
    const values = new LabelValues(["late"]);
    expect(["early", "late"].map((name) => values.of(name))).toEqual([OTHER, "late"]);
  });
});

describe("figures", () => {
  it.each([
    [0, 0],
    [1.5, 1.5],
    [12n, 12],
    [2 ** 53 - 1, 2 ** 53 - 1],
    [2n ** 60n, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ["1", undefined],
    [null, undefined],
  ])("%s is the amount %s", (given, amount) => {
    expect(amountOf(given)).toBe(amount);
  });

  it.each([
    ["0.30", 0.3],
    ["12", 12],
    ["0.000000000000000000000001", 1e-24],
    [0.5, 0.5],
    ["-1", undefined],
    ["1e3", undefined],
    ["", undefined],
    [" 1", undefined],
    ["1,5", undefined],
    ["9".repeat(17), undefined],
    [undefined, undefined],
  ])("%j is the decimal %s", (given, decimal) => {
    expect(decimalOf(given)).toBe(decimal);
  });
});
