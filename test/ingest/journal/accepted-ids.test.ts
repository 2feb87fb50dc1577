import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AcceptedIds } from "../../../src/ingest/journal/accepted-ids.ts";
import { runs } from "../../support/runs.ts";

describe("the ids of accepted events", () => {
  it("remembers the last of them, and at most twice as many", () => {
    const id = fc.record({ tenant: fc.constantFrom("a", "b", "ab"), id: fc.nat({ max: 300 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(id, { maxLength: 200 }),
        (limit, added) => {
          const ids = new AcceptedIds(limit);
          for (const [index, { id, tenant }] of added.entries()) {
            ids.add(tenant, String(id));
            const lately = added.slice(Math.max(0, index + 1 - limit), index + 1);
            for (const each of lately) expect(ids.has(each.tenant, String(each.id))).toBe(true);
            expect(ids.size).toBeLessThanOrEqual(2 * limit);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("knows none that was not added, and tells tenants apart", () => {
    const ids = new AcceptedIds(20_000);
    expect(ids.has("acme", "e1")).toBe(false);
    for (let n = 0; n < 30_000; n += 1) ids.add("acme", `event-${n}`);
    const numbers = Array.from({ length: 30_000 }, (_, n) => n);
    const known = numbers.filter((n) => ids.has("acme", `event-${n}`));
    expect(known).toEqual(numbers);
    const strange = numbers.filter(
      (n) => ids.has("acm", `eevent-${n}`) || ids.has("other", `event-${n}`),
    );
    expect(strange).toEqual([]);
    expect(ids.size).toBe(30_000);
  });

  it("forgets the oldest", () => {
    const ids = new AcceptedIds(2);
    for (const id of ["a", "b", "c", "d", "e"]) ids.add("t", id);
    expect(["a", "b", "c", "d", "e"].map((id) => ids.has("t", id))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it("needs a limit", () => {
    expect(() => new AcceptedIds(0)).toThrow("limit: expected a whole number from 1, got 0");
    expect(new AcceptedIds().limit).toBe(1_000_000);
  });
});
