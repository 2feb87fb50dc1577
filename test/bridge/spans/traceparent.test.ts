import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "../../../src/bridge/spans/traceparent.ts";

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""))
    .filter((text) => /[^0]/.test(text));

describe("a traceparent", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, sampled) => {
        const context = { traceId, spanId, traceFlags: sampled ? 1 : 0 };
        expect(parseTraceparent(formatTraceparent(context))).toEqual({
          ...context,
          isRemote: true,
        });
      }),
    );
  });

  it("keeps no flag but the sampled one", () => {
    const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
    expect(parseTraceparent(`00-${traceId}-${spanId}-ff`)?.traceFlags).toBe(1);
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)?.traceFlags).toBe(0);
    expect(formatTraceparent({ traceId, spanId, traceFlags: 3 })).toBe(
      `00-${traceId}-${spanId}-01`,
    );
  });

  it("brings its tracestate along", () => {
    const text = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    expect(parseTraceparent(text, "x=1,y=2")?.traceState?.get("y")).toBe("2");
    expect(parseTraceparent(text)).not.toHaveProperty("traceState");
  });

  it("that is any other text is none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(parseTraceparent(text)).toBeUndefined();
      }),
    );
  });
});
