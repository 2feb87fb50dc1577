import { describe, expect, it } from "vitest";
import { createIdGenerator, idSlot } from "../../../src/bridge/spans/id-generator.ts";

describe("the id generator", () => {
  it("makes valid random ids for spans that are not ours", () => {
    const generator = createIdGenerator();
    const traces = new Set<string>();
    const spans = new Set<string>();
    // More than one filling of the pool that the random bytes come from.
    for (let n = 0; n < 2000; n++) {
      traces.add(generator.generateTraceId());
      spans.add(generator.generateSpanId());
    }
    expect(traces.size).toBe(2000);
    expect(spans.size).toBe(2000);
    for (const id of traces) expect(id).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    for (const id of spans) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  });

  it("gives the ids that wait, once", () => {
    const generator = createIdGenerator({
      generateTraceId: () => "fallback trace",
      generateSpanId: () => "fallback span",
    });
    idSlot.traceId = "our trace";
    idSlot.spanId = "our span";
    expect([generator.generateSpanId(), generator.generateTraceId()]).toEqual([
      "our span",
      "our trace",
    ]);
    expect([generator.generateSpanId(), generator.generateTraceId()]).toEqual([
      "fallback span",
      "fallback trace",
    ]);
  });

  it("shares its slot with other copies of the package, by a key that is theirs too", () => {
    const shared: unknown = Reflect.get(globalThis, Symbol.for("entelix-otel.id-slot.v1"));
    expect(shared).toBe(idSlot);
  });
});
