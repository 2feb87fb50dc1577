import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millisecondsIn } from "../../../src/adapters/openai-agents/written-time.ts";
import { runs } from "../../support/runs.ts";

describe("a time that Date wrote", () => {
  it("is what Date.parse makes of it, whichever was read before", () => {
    const near = fc.integer({ min: 1_790_000_000_000, max: 1_790_000_200_000 });
    const any = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(near, any), { minLength: 1 }), (times) => {
        for (const ms of times) expect(millisecondsIn(new Date(ms).toISOString())).toBe(ms);
      }),
    );
  });

  it("is what Date.parse makes of it where a letter of it is another one", () => {
    const letters = fc.constantFrom(..."0123456789:.-+TZ aé");
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 23 }), letters, (at, letter) => {
        const text = "2026-01-02T03:04:05.678Z";
        const other = text.slice(0, at) + letter + text.slice(at + 1);
        millisecondsIn(text);
        expect(millisecondsIn(other)).toBe(Date.parse(other));
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ["2026-01-02T03:04:60.000Z", Number.NaN],
    ["2026-01-02T03:04:59.999Z", 1_767_323_099_999],
    ["2026-01-02T03:04:05Z", 1_767_323_045_000],
    ["2026-01-02T03:04:05.678901Z", 1_767_323_045_678],
    ["2026-01-02T04:04:05.678+01:00", 1_767_323_045_678],
    ["", Number.NaN],
    ["no time", Number.NaN],
  ])("%s", (text, ms) => {
    millisecondsIn("2026-01-02T03:04:05.678Z");
    expect(millisecondsIn(text)).toBe(ms);
  });
});
