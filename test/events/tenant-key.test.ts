import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdCache } from "../../src/bridge/door.ts";
import { tenantKey } from "../../src/events/agent-event.ts";
import { runs } from "../support/runs.ts";

/** Texts that hold what keys are joined with. */
const text = fc.array(fc.constantFrom("a", "b", "\0", ":", "1", "2"), { maxLength: 4 });
const name = text.map((characters) => characters.join(""));

describe("tenantKey", () => {
  it("is another text for each pair, whatever characters they hold", () => {
    fc.assert(
      fc.property(name, name, name, name, (tenant, one, other, two) => {
        const same = tenant === other && one === two;
        expect(tenantKey(tenant, one) === tenantKey(other, two)).toBe(same);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("keeps the event ids of two tenants apart", () => {
    const ids = new IdCache(100);
    expect(ids.add("a", "b\0e1")).toBe(true);
    expect(ids.add("a\0b", "e1")).toBe(true);
    expect(ids.add("a", "b\0e1")).toBe(false);
  });
});
