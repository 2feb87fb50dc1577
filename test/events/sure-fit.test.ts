import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFits } from "../../src/events/sure-fit.ts";
import { runs } from "../support/runs.ts";

describe("a value that surely fits", () => {
  it("has no longer JSON, and only values that JSON knows", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      fc.array(fc.double()),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 400 }), (it, bytes) => {
        if (!readFits(it, bytes)) return;
        expect(Buffer.byteLength(JSON.stringify(it) ?? "")).toBeLessThanOrEqual(bytes);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("is a large one of plain texts", () => {
    const value = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`k${n}`, "some text"]),
    );
    const { length } = JSON.stringify(value);
    expect([readFits(value, length + 1), readFits(value, length / 2)]).toEqual([true, false]);
    const map = new Map(Object.entries(value));
    expect([readFits(map, length + 1), readFits(map, length / 2)]).toEqual([true, false]);
    expect(readFits(new Map([[1, 1]]), 1_000)).toBe(false);
    expect(readFits({ a: 1n }, 1_000)).toBe(false);
    const fails = {
      get a() {
        throw new Error("no");
      },
    };
    expect(readFits(fails, 1_000)).toBe(false);
  });
});
