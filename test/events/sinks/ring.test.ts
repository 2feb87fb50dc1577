import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkedCapacity, Ring } from "../../../src/events/sinks/ring.ts";

describe("Ring", () => {
  it("holds the newest items in order, whatever is added and taken", () => {
    const step = fc.oneof(fc.record({ n: fc.nat() }), fc.constantFrom("shift", "clear"));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (capacity, steps) => {
        const ring = new Ring<{ n: number }>(capacity);
        let model: { n: number }[] = [];
        for (const action of steps) {
          if (action === "shift") expect(ring.shift()).toBe(model.shift());
          else if (action === "clear") {
            ring.clear();
            model = [];
          } else {
            ring.push(action);
            model = [...model, action].slice(-capacity);
          }
          expect(ring.length).toBe(model.length);
          expect(ring.full).toBe(model.length === capacity);
        }
        const rest = Array.from({ length: ring.length }, () => ring.shift());
        expect(rest).toEqual(model);
      }),
    );
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 24 + 1])(
    "refuses the capacity %d, by name",
    (capacity) => {
      expect(() => checkedCapacity(capacity, "maxWaiting")).toThrow(
        new RangeError(`maxWaiting: expected a whole number from 1 to 16777216, got ${capacity}`),
      );
    },
  );
});
