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
