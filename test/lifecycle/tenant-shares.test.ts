import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TenantShares } from "../../src/lifecycle/tenant-shares.ts";

const newcomer = { tenantId: "new" };
const runsOf = (...tenants: string[]) => tenants.map((tenantId) => ({ tenantId }));

describe("who has the most open runs", () => {
  it("is counted when somebody asks, and goes on from there", () => {
    const shares = new TenantShares();
    shares.opened({ tenantId: "before" });
    expect(shares.heaviest(runsOf("a", "b", "b"), newcomer)).toBe("b");
    for (const run of runsOf("a", "a")) shares.opened(run);
    expect(shares.heaviest([], newcomer)).toBe("a");
    for (const run of runsOf("a", "a", "a")) shares.closed(run);
    expect(shares.heaviest([], newcomer)).toBe("b");
  });

  it("of equal ones is the first by name", () => {
    expect(new TenantShares().heaviest(runsOf("b", "a", "c", "c", "a", "b"), newcomer)).toBe("a");
  });

  it("is the same as by counting all of them each time", () => {
    const step = fc.record({ what: fc.constantFrom("open", "close", "ask"), tenant: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const shares = new TenantShares();
        const open: string[] = [];
        shares.heaviest([], newcomer);
        for (const { what, tenant } of steps) {
          const tenantId = `t${tenant}`;
          const place = open.indexOf(tenantId);
          if (what === "open") {
            open.push(tenantId);
            shares.opened({ tenantId });
          } else if (what === "close" && place >= 0) {
            open.splice(place, 1);
            shares.closed({ tenantId });
          } else if (what === "ask") {
            const others = place < 0 ? open : open.toSpliced(place, 1);
            const most = Math.max(...others.map((one) => others.filter((o) => o === one).length));
            const heaviest = others
              .toSorted()
              .find((one) => others.filter((o) => o === one).length === most);
            expect(shares.heaviest([], { tenantId })).toBe(heaviest);
          }
        }
      }),
    );
  });

  it("is none for a run that has just come", () => {
    const shares = new TenantShares();
    expect(shares.heaviest(runsOf("b", "a"), { tenantId: "a" })).toBe("b");
    expect(shares.heaviest([], { tenantId: "b" })).toBe("a");
    expect(new TenantShares().heaviest(runsOf("a"), { tenantId: "a" })).toBeUndefined();
  });

  it("is nobody where nothing is open", () => {
    const shares = new TenantShares();
    expect(shares.heaviest([], newcomer)).toBeUndefined();
    shares.closed({ tenantId: "unknown" });
    expect(shares.heaviest([], newcomer)).toBeUndefined();
  });

  it("is counted anew after a rest", () => {
    const shares = new TenantShares();
    expect(shares.heaviest(runsOf("a"), newcomer)).toBe("a");
    shares.rest();
    shares.opened({ tenantId: "b" });
    expect(shares.heaviest(runsOf("c"), newcomer)).toBe("c");
  });
});
