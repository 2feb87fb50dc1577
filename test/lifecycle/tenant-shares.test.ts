import { describe, expect, it } from "vitest";
import { TenantShares } from "../../src/lifecycle/tenant-shares.ts";

const runsOf = (...tenants: string[]) => tenants.map((tenantId) => ({ tenantId }));

describe("who has the most open runs", () => {
  it("is counted when somebody asks, and goes on from there", () => {
    const shares = new TenantShares();
    shares.opened({ tenantId: "before" });
    expect(shares.heaviest(runsOf("a", "b", "b"))).toBe("b");
    for (const run of runsOf("a", "a")) shares.opened(run);
    expect(shares.heaviest([])).toBe("a");
    for (const run of runsOf("a", "a", "a")) shares.closed(run);
    expect(shares.heaviest([])).toBe("b");
  });

  it("of equal ones is the first by name", () => {
    expect(new TenantShares().heaviest(runsOf("b", "a", "c", "c", "a", "b"))).toBe("a");
  });

  it("is nobody where nothing is open", () => {
    const shares = new TenantShares();
    expect(shares.heaviest([])).toBeUndefined();
    shares.closed({ tenantId: "unknown" });
    expect(shares.heaviest([])).toBeUndefined();
  });

  it("is counted anew after a rest", () => {
    const shares = new TenantShares();
    expect(shares.heaviest(runsOf("a"))).toBe("a");
    shares.rest();
    shares.opened({ tenantId: "b" });
    expect(shares.heaviest(runsOf("c"))).toBe("c");
  });
});
