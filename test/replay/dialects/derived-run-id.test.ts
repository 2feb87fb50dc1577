import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUuid } from "../../../src/events/door.ts";
import { derivedRunId } from "../../../src/replay/dialects/mapping.ts";

describe("derivedRunId", () => {
  it.each([
    // Computed with Python's hashlib and uuid.
    [
      "default",
      "thread-open-2",
      "5ee17f14-061e-4aa6-b3a4-e7d944624755",
      "dddd7502-9db2-883a-9f2a-3db87dae38d2",
    ],
    ["default", "default", "0", "42d6f179-f306-8719-9604-d1c44c3acaba"],
    ["acme", "검색/call_1", "7", "e5afd6e7-200d-80c3-8617-c0647970a37d"],
  ])("of %s, %s, %s is known", (tenant, stream, opening, id) => {
    expect(derivedRunId(tenant, stream, opening)).toBe(id);
  });

  it("is a lower-case UUID of version 8 and of the usual variant, and can be a trace id", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (tenant, stream, opening) => {
        const id = derivedRunId(tenant, stream, opening);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(isUuid(id)).toBe(true);
      }),
    );
  });

  it("differs by each of its parts", () => {
    const ids = [
      derivedRunId("a", "b", "c"),
      derivedRunId("x", "b", "c"),
      derivedRunId("a", "x", "c"),
      derivedRunId("a", "b", "x"),
      derivedRunId("ab", "", "c"),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
