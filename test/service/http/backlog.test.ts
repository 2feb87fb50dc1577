import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Backlog } from "../../../src/service/http/journal-feed.ts";

const MIB = 1024 * 1024;

describe("the backlog", () => {
  it("has the bytes of lines that are needed", () => {
    const backlog = new Backlog();
    backlog.add(9, 2 * MIB);
    backlog.add(19, 100);
    backlog.settle(9);
    expect(backlog.bytes).toBe(2 * MIB + 100);
    backlog.settle(10);
    expect(backlog.bytes).toBe(100);
    backlog.settle(20);
    expect(backlog.bytes).toBe(0);
  });

  it("is never below what is needed, and at most a block above it", () => {
    const append = fc.tuple(fc.integer({ min: 0, max: 2 * MIB }), fc.integer({ min: 1, max: 50 }));
    fc.assert(
      fc.property(fc.array(append), fc.nat(4000), (appends, position) => {
        const backlog = new Backlog();
        let next = 0;
        let needed = 0;
        for (const [bytes, lines] of appends) {
          next += lines;
          backlog.add(next - 1, bytes);
          if (next > position) needed += bytes;
        }
        backlog.settle(position);
        expect(backlog.bytes).toBeGreaterThanOrEqual(needed);
        expect(backlog.bytes).toBeLessThan(needed + 3 * MIB);
        backlog.settle(next);
        expect(backlog.bytes).toBe(0);
      }),
    );
  });
});
