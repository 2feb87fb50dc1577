import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentMap } from "../../src/lifecycle/recent-map.ts";

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
