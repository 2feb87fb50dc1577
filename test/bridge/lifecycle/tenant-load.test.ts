import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TenantLoadHeap } from "../../../src/bridge/lifecycle/tenant-load.ts";

const newcomer = { tenantId: "new" };
const runsOf = (...tenants: string[]) => tenants.map((tenantId) => ({ tenantId }));

describe("who has the most open runs", () => {
  it("is counted when somebody asks, and goes on from there", () => {
    const load = new TenantLoadHeap();
    load.opened({ tenantId: "before" });
    expect(load.heaviest(runsOf("a", "b", "b"), newcomer)).toBe("b");
    for (const run of runsOf("a", "a")) load.opened(run);
    expect(load.heaviest([], newcomer)).toBe("a");
    for (const run of runsOf("a", "a", "a")) load.closed(run);
    expect(load.heaviest([], newcomer)).toBe("b");
  });

  it("of equal ones is the first by name", () => {
    expect(new TenantLoadHeap().heaviest(runsOf("b", "a", "c", "c", "a", "b"), newcomer)).toBe("a");
  });

  it("is the same as by counting all of them each time", () => {
    const step = fc.record({ what: fc.constantFrom("open", "close", "ask"), tenant: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const load = new TenantLoadHeap();
        const open: string[] = [];
        load.heaviest([], newcomer);
        for (const { what, tenant } of steps) {
          const tenantId = `t${tenant}`;
          const place = open.indexOf(tenantId);
          if (what === "open") {
            open.push(tenantId);
            load.opened({ tenantId });
          } else if (what === "close" && place >= 0) {
            open.splice(place, 1);
            load.closed({ tenantId });
          } else if (what === "ask") {
            const others = place < 0 ? open : open.toSpliced(place, 1);
            const most = Math.max(...others.map((one) => others.filter((o) => o === one).length));
            const heaviest = others
              .toSorted()
              .find((one) => others.filter((o) => o === one).length === most);
            expect(load.heaviest([], { tenantId })).toBe(heaviest);
          }
        }
      }),
    );
  });

  it("is none for a run that has just come", () => {
    const load = new TenantLoadHeap();
    expect(load.heaviest(runsOf("b", "a"), { tenantId: "a" })).toBe("b");
    expect(load.heaviest([], { tenantId: "b" })).toBe("a");
    expect(new TenantLoadHeap().heaviest(runsOf("a"), { tenantId: "a" })).toBeUndefined();
  });

  it("is nobody where nothing is open", () => {
    const load = new TenantLoadHeap();
    expect(load.heaviest([], newcomer)).toBeUndefined();
    load.closed({ tenantId: "unknown" });
    expect(load.heaviest([], newcomer)).toBeUndefined();
  });

  it("is counted anew after a rest", () => {
    const load = new TenantLoadHeap();
    expect(load.heaviest(runsOf("a"), newcomer)).toBe("a");
    load.rest();
    load.opened({ tenantId: "b" });
    expect(load.heaviest(runsOf("c"), newcomer)).toBe("c");
  });
});
