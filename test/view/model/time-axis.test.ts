import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labelledTicks, positionOn, rangeOf, timeAxis } from "../../../src/view/model/time-axis.ts";

const HOUR = 3_600_000;

describe("the range of an axis", () => {
  it("is the run, or a span of it", () => {
    expect(rangeOf(undefined, 900)).toEqual({ from: 0, to: 900 });
    expect(rangeOf({ start: 100, end: 300 }, 900)).toEqual({ from: 100, to: 300 });
  });

  it("of an open span ends with the run so far", () => {
    expect(rangeOf({ start: 100, end: undefined }, 900)).toEqual({ from: 100, to: 900 });
  });

  it("of a span without length is not empty", () => {
    const range = rangeOf({ start: 100, end: 100 }, 900);
    expect(range.to).toBeGreaterThan(range.from);
    expect(positionOn(timeAxis(range, []), 100, 100)).toEqual({ start: 0, length: 0 });
  });
});

describe("a bar on an axis", () => {
  const axis = timeAxis({ from: 100, to: 300 }, []);
  it.each([
    ["within", 150, 250, { start: 0.25, length: 0.5 }],
    ["that begins before it", 0, 200, { start: 0, length: 0.5 }],
    ["that ends after it", 200, 900, { start: 0.5, length: 0.5 }],
    ["around it", 0, 900, { start: 0, length: 1 }],
    ["that ends where it begins", 0, 100, undefined],
    ["that begins where it ends", 300, 400, undefined],
    ["without length where it ends", 300, 300, { start: 1, length: 0 }],
    ["before it", 0, 99, undefined],
    ["after it", 301, 900, undefined],
  ])("%s", (_, start, end, place) => {
    expect(positionOn(axis, start, end)).toEqual(place);
  });
});

describe("an axis with a long wait", () => {
  const night = { from: 6000, to: 6000 + 8 * HOUR };
  const axis = timeAxis({ from: 0, to: night.to + 4000 }, [night]);

  it("draws the wait as a tenth of the work", () => {
    expect(axis.share(night.from)).toBeCloseTo(6 / 11);
    expect(axis.share(night.to)).toBeCloseTo(7 / 11);
    expect(axis.cut).toEqual([
      { ...night, share: expect.closeTo(6 / 11), length: expect.closeTo(1 / 11) },
    ]);
  });

  it("has labels that count without it", () => {
    const ticks = axis.ticks(6).map(({ share, time }) => [time, Number(share.toFixed(4))]);
    expect(ticks).toEqual([
      [0, 0],
      [5000, 0.4545],
      [10_000, 1],
    ]);
  });

  it("shows no more of it where its range ends within", () => {
    const zoomed = timeAxis({ from: 5000, to: 7000 }, [night]);
    expect(zoomed.cut).toHaveLength(1);
    expect(zoomed.share(night.from)).toBeCloseTo(1 / 1.1);
  });
});

it("draws short waits, and a range that is nothing but a wait, as long as they are", () => {
  expect(timeAxis({ from: 0, to: 1000 }, [{ from: 500, to: 550 }]).cut).toEqual([]);
  const whole = timeAxis({ from: 100, to: 200 }, [{ from: 0, to: 900 }]);
  expect([whole.cut, whole.share(150)]).toEqual([[], 0.5]);
});

it("leaves half of the axis to the work, however many the waits are", () => {
  const waits = Array.from({ length: 50 }, (_, n) => ({ from: n * 1000, to: n * 1000 + 900 }));
  const { cut } = timeAxis({ from: 0, to: 50_000 }, waits);
  expect(cut).toHaveLength(50);
  expect(cut.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(0.5 + 1e-9);
});

it("keeps the order of all times", () => {
  const gaps = fc.array(fc.tuple(fc.nat(10_000), fc.nat(1_000_000)), { maxLength: 20 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 10_000 }), (pairs, rest) => {
      let at = 0;
      const idle = pairs.map(([work, wait]) => {
        const from = at + work;
        at = from + wait;
        return { from, to: at };
      });
      const axis = timeAxis({ from: 0, to: at + rest }, idle);
      const corners = [0, ...idle.flatMap(({ from, to }) => [from, to]), at + rest];
      const shares = corners.map((time) => axis.share(time));
      expect(shares).toEqual(shares.toSorted((one, other) => one - other));
      expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
    }),
  );
});

describe("labels", () => {
  const labels = (from: number, hours: number, width: number) =>
    labelledTicks(timeAxis({ from, to: from + hours * 3_600_000 }, []), width).map(
      ({ isLast, text }) => (isLast ? `${text} |` : `| ${text}`),
    );

  it("begin at their time, the last one ends there if it has to", () => {
    expect(labels(0, 9, 600)).toEqual([
      "| 0",
      "| 2 h 0 min",
      "| 4 h 0 min",
      "| 6 h 0 min",
      "| 8 h 0 min",
    ]);
    expect(labels(0, 8, 600).at(-1)).toBe("8 h 0 min |");
    expect(labels(60_000, 9, 300)).toEqual(["| 1 min", "| +3 h 0 min", "| +6 h 0 min", " |"]);
  });

  it("are at least two where they have room", () => {
    expect(labels(0, 94 / 3600, 130)).toEqual(["| 0", "| 1 min"]);
    expect(labels(0, 94 / 3600, 40)).toEqual(["| 0", " |"]);
  });

  it("never overlap", () => {
    fc.assert(
      fc.property(fc.nat(2e8), fc.integer({ min: 60, max: 2000 }), (length, width) => {
        let free = 0;
        for (const { isLast, share, text } of labelledTicks(
          timeAxis({ from: 0, to: length + 1 }, []),
          width,
        )) {
          if (text === "") continue;
          const from = share * width - (isLast ? text.length * 6 : 0);
          expect(from).toBeGreaterThanOrEqual(free);
          free = from + text.length * 6;
        }
      }),
    );
  });
});
