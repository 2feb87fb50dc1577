import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRfc3339, parseRfc3339, readTimestamp } from "../../src/events/instant.ts";
import { runs } from "../support/runs.ts";

describe("readTimestamp", () => {
  it("reads what parseRfc3339 reads, day by day and across days", () => {
    const instant = fc.tuple(
      fc.oneof(fc.integer({ min: 1_777_464_000, max: 1_777_650_000 }), fc.integer()),
      fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 5e8, 1e6, 1)),
    );
    fc.assert(
      fc.property(instant, ([seconds, nanos]) => {
        const text = formatRfc3339([seconds, nanos]);
        expect(readTimestamp(text)).toEqual([seconds, nanos]);
      }),
    );
  });

  it("refuses and accepts what parseRfc3339 does, for damaged times too", () => {
    const damage = fc.record({
      text: fc.constantFrom(
        "2026-04-29T12:00:00Z",
        "2026-04-29T12:00:59.123456789Z",
        "2026-04-29T12:00:00.5+09:00",
        "2026-04-29t12:00:00.25z",
        "2026-02-29T12:00:00Z",
        "2016-12-31T23:59:60Z",
      ),
      at: fc.nat({ max: 29 }),
      cut: fc.nat({ max: 1 }),
      insert: fc.constantFrom("", "0", "6", "9", ".", ":", "Z", " ", "-", "x"),
    });
    fc.assert(
      fc.property(damage, ({ text, at, cut, insert }) => {
        // Enter the day first, so that the short way is taken where it can be.
        readTimestamp(text);
        const damaged = text.slice(0, at) + insert + text.slice(at + cut);
        expect(readTimestamp(damaged)).toEqual(parseRfc3339(damaged));
      }),
      { numRuns: runs(2000) },
    );
  });

  it("takes a leap second for the second after it, of a day just read", () => {
    readTimestamp("2016-12-31T23:59:01Z");
    expect(readTimestamp("2016-12-31T23:59:60.5Z")).toEqual([1_483_228_800, 500_000_000]);
    expect(readTimestamp("2016-12-31T23:59:61Z")).toBeUndefined();
  });
});
