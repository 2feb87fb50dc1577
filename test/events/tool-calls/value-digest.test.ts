import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExact, stringifyExact } from "../../../src/events/exact-json.ts";
import { digestOf, UNKNOWN } from "../../../src/events/tool-calls/value-digest.ts";
import { runs } from "../../support/runs.ts";

/** The same with the fields of its objects in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, turned(field)] as const);
  return Object.fromEntries(fields.reverse());
}

describe("the digest of a value", () => {
  it("is that of its JSON read again, and differs where the JSON does", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.bigInt(),
      fc.record({
        at: fc.date({ noInvalidDate: true }),
        none: fc.constant(undefined),
        f: fc.func(fc.nat()),
      }),
      fc.array(fc.constantFrom(undefined, null, Number.NaN, -0, new Number(3), new String("3"))),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [textA, textB] = [stringifyExact(a), stringifyExact(b)];
        if (textA.length > 1_000) return;
        const [readA, readB] = [parseExact(textA), parseExact(textB)];
        expect(digestOf(7, a)).toBe(digestOf(7, readA));
        expect(digestOf(7, turned(readA))).toBe(digestOf(7, readA));
        if (!isDeepStrictEqual(readA, readB)) expect(digestOf(7, a)).not.toBe(digestOf(7, b));
        if (a !== null) expect(digestOf(7, a)).not.toBe(digestOf(8, a));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["nothing", undefined],
    ["a function", () => 1],
    ["a long text", "x".repeat(4_097)],
    ["a text of few characters and many bytes", "\u{1F600}".repeat(1_000)],
    ["many bytes", Buffer.alloc(4_000)],
    ["a long list", Array.from({ length: 2_000 }, () => 1)],
    ["deep nesting", JSON.parse("[".repeat(70) + "]".repeat(70))],
    [
      "a getter that throws",
      Object.defineProperty({}, "x", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("is not known of %s", (_, value) => {
    expect(digestOf(1, value)).toBe(UNKNOWN);
  });

  it("is not known of a cycle, nor of a value that asks for a digest", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(digestOf(1, cycle)).toBe(UNKNOWN);
    let inner: number | undefined;
    const asks = {
      toJSON: () => {
        inner = digestOf(1, "x");
        return "y";
      },
    };
    expect(digestOf(1, asks)).toBe(digestOf(1, "y"));
    expect(inner).toBe(UNKNOWN);
  });
});
