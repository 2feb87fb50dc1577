import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentMap, RecentPairs } from "../../../src/events/ids/recent-map.ts";

describe("a map of what was set last", () => {
  it("keeps at least so many, at most twice as many, and counts what it forgets", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(30), { maxLength: 100 }),
        (least, keys) => {
          const map = new RecentMap<number>(least);
          const order: number[] = [];
          let forgotten = 0;
          for (const [n, key] of keys.entries()) {
            forgotten += map.set(String(key), n);
            const at = order.indexOf(key);
            if (at >= 0) order.splice(at, 1);
            order.push(key);
            for (const recent of order.slice(-least)) {
              expect(map.get(String(recent))).toBe(keys.lastIndexOf(recent, n));
            }
            const kept = order.filter((known) => map.get(String(known)) !== undefined);
            expect(kept.length).toBeLessThanOrEqual(2 * least);
          }
          const kept = order.filter((key) => map.get(String(key)) !== undefined);
          // A key that was set again is in both halves: it is counted when the older one goes.
          expect(forgotten).toBeGreaterThanOrEqual(order.length - kept.length);
          expect(map.isEmpty).toBe(keys.length === 0);
        },
      ),
    );
  });

  it("forgets what is deleted, wherever it is", () => {
    const map = new RecentMap<string>(1);
    map.set("a", "1");
    map.set("b", "2");
    map.delete("a");
    map.delete("b");
    expect([map.get("a"), map.get("b"), map.isEmpty]).toEqual([undefined, undefined, true]);
  });
});

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
