import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdCache } from "../../../src/bridge/lifecycle/id-cache.ts";
import { readUuid } from "../../../src/events/door.ts";
import { runs } from "../../support/runs.ts";

const UUID = "205c6878-5e2c-8ba9-872b-566428e7f294";

/** UUIDs that differ in one place alone, so that their words have much in common. */
const uuidOf = (n: number) => `0000000${n % 10}-0000-0000-0000-${String(n).padStart(12, "0")}`;

/** UUIDs that all have one hash where nothing is mixed in that nobody knows. */
function crowding(n: number): string {
  const [w0, w1, w2] = [0x018f0000 + n, 0x7000, 0x80000000];
  let hash = Math.imul(w0, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ w1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ w2, 0xc2b2ae35);
  const w3 = hash ^ (hash >>> 16);
  const hex = [w0, w1, w2, w3].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

describe("readUuid", () => {
  it("reads the words of every UUID, and nothing else", () => {
    const words = { w0: 0x205c6878, w1: 0x5e2c8ba9, w2: 0x872b5664 | 0, w3: 0x28e7f294 };
    expect(readUuid(UUID)).toEqual({ ...words, capitals: false });
    expect(readUuid(UUID.toUpperCase())).toEqual({ ...words, capitals: true });
    for (let at = 0; at < UUID.length; at++) {
      for (const wrong of ["g", "/", ":", "é", "-", "0"]) {
        if (wrong === "-" ? UUID[at] === "-" : wrong === "0" && UUID[at] !== "-") continue;
        expect(readUuid(UUID.slice(0, at) + wrong + UUID.slice(at + 1))).toBeUndefined();
      }
    }
    expect(readUuid(`${UUID}0`)).toBeUndefined();
    expect(readUuid(UUID.slice(1))).toBeUndefined();
  });
});

describe("IdCache", () => {
  it("knows an id again, of its own tenant and in its own letters alone", () => {
    const ids = new IdCache(100);
    for (const id of [UUID, UUID.toUpperCase(), "event-1", ""]) {
      expect(ids.add("a", id)).toBe(true);
      expect(ids.add("b", id)).toBe(true);
      expect(ids.add("a", id)).toBe(false);
    }
  });

  it("keeps at least as many as it was told, and counts what it forgets", () => {
    const ids = new IdCache(10);
    for (let n = 0; n < 20; n++) expect(ids.add("a", uuidOf(n))).toBe(true);
    for (let n = 10; n < 20; n++) expect(ids.add("a", uuidOf(n))).toBe(false);
    expect(ids.forgotten).toBe(10);
    expect(ids.add("a", uuidOf(0))).toBe(true);
  });

  it("keeps what it has while it grows, however much it was told", () => {
    const ids = new IdCache(Number.MAX_SAFE_INTEGER);
    for (let n = 0; n < 5_000; n++) ids.add("a", uuidOf(n));
    const again = Array.from({ length: 5_001 }, (_, n) => ids.add("a", uuidOf(n)));
    expect(again.indexOf(true)).toBe(5_000);
  });

  it("takes ids that were made to crowd one place of the table", () => {
    // With a hash that the sender knows each would be looked for among all those before it: minutes.
    const ids = new IdCache(100_000);
    const crowd = Array.from({ length: 150_000 }, (_, n) => crowding(n));
    expect(new Set(crowd).size).toBe(crowd.length);
    expect(crowd.filter((id) => ids.add("a", id)).length).toBe(crowd.length);
    expect(crowd.filter((id) => ids.add("a", id))).toEqual([]);
  });

  it("tells more tenants apart than it has numbers for", () => {
    const ids = new IdCache(20_000);
    const all = () => Array.from({ length: 5_000 }, (_, n) => ids.add(`tenant-${n}`, UUID));
    expect(new Set(all())).toEqual(new Set([true]));
    expect(new Set(all())).toEqual(new Set([false]));
  });

  it("forgets the oldest, and keeps the age of what is added again", () => {
    const ids = new IdCache(2);
    for (const id of ["a", "b", "c", "a", "d", "e"]) ids.add("t", id);
    const known = ["a", "b", "c", "d", "e"].map((id) => ids.has("t", id));
    expect(known).toEqual([false, false, true, true, true]);
    expect(ids.size).toBe(3);
    expect(ids.forgotten).toBe(2);
  });

  it("remembers the last that came, and at most twice as many", () => {
    const id = fc.record({
      tenant: fc.constantFrom("a", "b", "ab"),
      id: fc.nat({ max: 300 }).chain((n) => fc.constantFrom(uuidOf(n), String(n))),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(id, { maxLength: 200 }),
        (limit, added) => {
          const ids = new IdCache(limit, limit);
          const fresh: typeof added = [];
          for (const each of added) {
            const known = ids.has(each.tenant, each.id);
            expect(ids.add(each.tenant, each.id)).toBe(!known);
            if (!known) fresh.push(each);
            for (const { id, tenant } of fresh.slice(-limit)) {
              expect(ids.has(tenant, id)).toBe(true);
            }
            expect(ids.size).toBeLessThanOrEqual(2 * limit);
            expect(ids.size + ids.forgotten).toBe(fresh.length);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("knows none that was not added, and tells tenants apart", () => {
    const ids = new IdCache(20_000);
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

  it("needs a limit", () => {
    expect(() => new IdCache(0)).toThrow("limit: expected a whole number from 1, got 0");
  });

  it("answers as a set does that forgets nothing, as long as there is room", () => {
    const event = fc.tuple(
      fc.constantFrom("a", "b"),
      fc.oneof(fc.nat(30).map(uuidOf), fc.nat(5).map(String)),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const ids = new IdCache(64);
        const seen = new Set<string>();
        for (const [tenant, id] of events) {
          expect(ids.add(tenant, id)).toBe(!seen.has(`${tenant}/${id}`));
          seen.add(`${tenant}/${id}`);
        }
        expect(ids.forgotten).toBe(0);
      }),
    );
  });
});
