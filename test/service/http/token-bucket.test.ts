import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../../src/service/http/tokens/access.ts";

describe("a token bucket", () => {
  it("lets five seconds' worth of lines go at once, then the rate", () => {
    const bucket = new TokenBucket(10, 0);
    const taken = (now: number, tries: number) =>
      Array.from({ length: tries }, () => bucket.take(now)).filter(Boolean).length;
    expect(taken(0, 100)).toBe(50);
    expect(bucket.wait(0)).toBe(1);
    expect(taken(1_000, 100)).toBe(10);
    expect(taken(1_000_000, 100)).toBe(50);
  });

  it("lets one line go now and then where the rate is below one", () => {
    const bucket = new TokenBucket(0.1, 0);
    expect([bucket.take(0), bucket.take(9_000)]).toEqual([true, false]);
    expect(bucket.wait(9_000)).toBeCloseTo(1);
    expect(bucket.take(10_001)).toBe(true);
  });

  it("keeps what is left when the rate changes", () => {
    const bucket = new TokenBucket(10, 0);
    for (let i = 0; i < 50; i += 1) bucket.take(0);
    bucket.setRate(1000, 0);
    expect([bucket.take(0), bucket.take(1)]).toEqual([false, true]);
  });

  it("never lets more go than the burst and the rate", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
        (rate, steps) => {
          const bucket = new TokenBucket(rate, 0);
          let now = 0;
          let taken = 0;
          for (const step of steps) {
            now += step;
            if (bucket.take(now)) taken += 1;
          }
          expect(taken).toBeLessThanOrEqual(rate * 5 + (now / 1000) * rate + 1e-6);
        },
      ),
    );
  });
});
