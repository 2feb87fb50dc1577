import { describe, expect, it } from "vitest";
import { TraceOwners } from "../../../src/bridge/lifecycle/run-table.ts";

describe("the owners of traces", () => {
  it("keep a trace until its last run lets go", () => {
    const owners = new TraceOwners();
    expect(owners.isForeign("acme", "t")).toBe(false);
    owners.hold("acme", "t");
    owners.hold("acme", "t");
    expect(owners.isForeign("acme", "t")).toBe(false);
    expect(owners.isForeign("globex", "t")).toBe(true);
    expect(owners.isForeign("globex", "u")).toBe(false);
    owners.release("t");
    expect(owners.isForeign("globex", "t")).toBe(true);
    owners.release("t");
    expect(owners.isForeign("globex", "t")).toBe(false);
    owners.release("t");
    owners.hold("globex", "t");
    expect(owners.isForeign("acme", "t")).toBe(true);
  });
});
