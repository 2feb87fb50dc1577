import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startPosition } from "../../../src/service/kafka/start-position.ts";

const RULES = { lookback: 100, fromEnd: true };

describe("startPosition", () => {
  it("reads a lookback before what was committed", () => {
    expect(startPosition(500, { first: 0, end: 900 }, RULES)).toEqual({
      from: 500,
      start: 400,
      missing: undefined,
    });
  });

  it("goes back no further than the log", () => {
    expect(startPosition(500, { first: 450, end: 900 }, RULES)).toMatchObject({
      from: 500,
      start: 450,
    });
  });

  it("begins at the end, or at the beginning, where nothing was committed", () => {
    const log = { first: 10, end: 90 };
    expect(startPosition(undefined, log, { ...RULES, lookback: 0 })).toMatchObject({
      from: 90,
      start: 90,
    });
    expect(startPosition(undefined, log, { ...RULES, fromEnd: false })).toMatchObject({
      from: 10,
      start: 10,
    });
  });

  it("says which offsets the log lost before they were stored", () => {
    const { from, start, missing } = startPosition(5, { first: 20, end: 90 }, RULES);
    expect([from, start]).toEqual([20, 20]);
    expect(missing).toMatch(/offsets 5 to 19 were removed/);
  });

  it("reads a topic from its beginning that was made anew since", () => {
    const { from, start, missing } = startPosition(500, { first: 3, end: 90 }, RULES);
    expect([from, start]).toEqual([3, 3]);
    expect(missing).toMatch(/offset 500 was committed, but the log ends at 90/);
  });

  it("never begins outside the log, nor behind what counts", () => {
    const offset = fc.nat(1000);
    fc.assert(
      fc.property(
        fc.option(offset, { nil: undefined }),
        offset,
        offset,
        offset,
        fc.boolean(),
        (committed, first, length, lookback, fromEnd) => {
          const log = { first, end: first + length };
          const { from, start } = startPosition(committed, log, { lookback, fromEnd });
          expect(start).toBeGreaterThanOrEqual(log.first);
          expect(from).toBeLessThanOrEqual(log.end);
          expect(start).toBeLessThanOrEqual(from);
          expect(from - start).toBeLessThanOrEqual(lookback);
        },
      ),
    );
  });
});
