import { describe, expect, it } from "vitest";
import { count, counted } from "../../../src/cli/door.ts";
import { durationText, percent } from "../../../src/events/format/door.ts";
import { dollars, localTime, msOf, utcTime } from "../../../src/view/model/formats.ts";
import { lookOf, OUTCOMES } from "../../../src/view/model/outcome.ts";

describe("numbers", () => {
  it("are counted with their noun", () => {
    expect([count(0), count(1_234_567), counted(1, "run"), counted(2, "run")]).toEqual([
      "0",
      "1,234,567",
      "1 run",
      "2 runs",
    ]);
    expect(counted(2, "run matches", "runs match")).toBe("2 runs match");
  });

  it.each([
    [0, "0%"],
    [0.299, "29%"],
    [0.9999, "99%"],
    [1, "100%"],
    [1.2, "100%"],
    [-1, "0%"],
  ])("%d is shown as %s", (share, shown) => {
    expect(percent(share)).toBe(shown);
  });
});

describe("durations", () => {
  it.each([
    [0, "0 µs"],
    [0.0123, "12 µs"],
    [9.94, "9.9 ms"],
    [41, "41 ms"],
    [999.4, "999 ms"],
    [999.6, "1.0 s"],
    [59_940, "59.9 s"],
    [90_000, "2 min"],
    [3_599_000, "1 h 0 min"],
    [11_100_000, "3 h 5 min"],
    [2 * 86_400_000 - 60_000, "47 h 59 min"],
    [98 * 3_600_000, "4 d 2 h"],
    [-1500, "-1.5 s"],
  ])("%d ms is %s", (ms, shown) => {
    expect(durationText(ms)).toBe(shown);
  });
});

describe("costs", () => {
  it.each([
    ["0", "$0"],
    ["0.00004", "<$0.0001"],
    ["0.0042", "$0.0042"],
    ["0.1", "$0.10"],
    ["12.3", "$12.30"],
    ["1234.5", "$1,234.50"],
    ["-0.5", "-$0.50"],
    ["free", "free"],
    ["", ""],
  ])("%s is %s", (decimal, shown) => {
    expect(dollars(decimal)).toBe(shown);
  });
});

describe("times", () => {
  it("are read from decimal text in ns", () => {
    expect(msOf("1764172800123456789")).toBeCloseTo(1_764_172_800_123.456_8, 3);
    expect([msOf("0"), msOf("1500000"), msOf("250000")]).toEqual([0, 1.5, 0.25]);
  });

  it("are shown in the time zone of the reader", () => {
    const ms = Date.UTC(2026, 10, 26, 23, 30, 5, 123);
    expect([
      localTime(ms, "minutes", 0),
      localTime(ms, "seconds", 60),
      localTime(ms, "milliseconds", -330),
      utcTime(ms),
    ]).toEqual([
      "2026-11-26 23:30",
      "2026-11-27 00:30:05",
      "2026-11-26 18:00:05.123",
      "2026-11-26T23:30:05.123Z",
    ]);
  });

  it("that no calendar has are unknown", () => {
    expect([localTime(Number.NaN), localTime(1e20), utcTime(Number.NaN)]).toEqual(
      Array(3).fill("unknown time"),
    );
  });
});

describe("outcomes", () => {
  it("have different signs, so that no colour is needed", () => {
    expect(new Set(OUTCOMES.map((outcome) => lookOf(outcome).sign)).size).toBe(6);
  });

  it("of newer versions have a plain look", () => {
    expect([lookOf("paused").tone, lookOf("constructor").tone]).toEqual(["plain", "plain"]);
  });
});
