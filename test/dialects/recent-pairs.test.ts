import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentPairs } from "../../src/dialects/recent-pairs.ts";

describe("RecentPairs", () => {
  it("tells pairs apart by both names", () => {
    const pairs = new RecentPairs<number>(10);
    pairs.set("a", "bc", 1);
    pairs.set("ab", "c", 2);
    expect(pairs.get("a", "bc")).toBe(1);
    expect(pairs.get("ab", "c")).toBe(2);
    expect(pairs.get("abc", "")).toBeUndefined();
  });

  it("keeps what is asked for, and counts what it drops", () => {
    const pairs = new RecentPairs<number>(2);
    for (let n = 0; n < 100; n++) {
      pairs.set("a", String(n), n);
      expect(pairs.get("a", "0")).toBe(0);
    }
    const kept = Array.from({ length: 100 }, (_, n) => n).filter(
      (n) => pairs.get("a", String(n)) !== undefined,
    );
    expect(kept.length).toBeLessThanOrEqual(4);
    expect(pairs.forgotten).toBeGreaterThanOrEqual(96);
  });

  it("holds the last ones of any use", () => {
    const use = fc.record({
      first: fc.constantFrom("a", "b"),
      second: fc.nat(8).map(String),
      sets: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(use, { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (uses, least) => {
          const pairs = new RecentPairs<number>(least);
          const latest = new Map<string, number>();
          for (const [n, { first, second, sets }] of uses.entries()) {
            const key = `${first}/${second}`;
            const known = latest.get(key);
            const recent = [...latest.keys()].slice(-least);
            const found = pairs.get(first, second);
            if (recent.includes(key)) expect(found).toBe(known);
            else if (found !== undefined) expect(found).toBe(known);
            if (!sets && found === undefined) continue;
            latest.delete(key);
            latest.set(key, sets ? n : (found ?? n));
            if (sets) pairs.set(first, second, n);
          }
        },
      ),
    );
  });
});
