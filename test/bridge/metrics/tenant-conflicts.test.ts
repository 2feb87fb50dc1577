import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { type Collected, collectMetrics, meteredBench } from "./meter.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000001";

interface Sends {
  at(time: number, event: ReturnType<RunEvents["started"]>): void;
}

/** One run id, first of `first`, then of each other tenant: a conflict each. */
function squat(test: Sends, tenants: readonly string[], runId = RUN): void {
  test.at(0, new RunEvents(runId, "first").started());
  for (const tenant of tenants) test.at(1, new RunEvents(runId, tenant).started());
}

/** By tenant; without those that have none. */
function conflicts(seen: Collected): Record<string, number> {
  const points = seen.points("entelix.bridge.adjustments").filter(({ attributes, value }) => {
    return attributes["entelix.reason"] === "tenant_conflicts" && value > 0;
  });
  return Object.fromEntries(
    points.map(({ attributes, value }) => [attributes["entelix.tenant_id"], value]),
  );
}

describe("tenant conflicts", () => {
  it("are counted for the tenant whose event came second, once a run", async () => {
    const test = meteredBench();
    squat(test, ["acme", "globex"]);
    test.at(2, new RunEvents(RUN, "acme").complete());
    const seen = await test.collect();
    expect(conflicts(seen)).toEqual({ acme: 1, globex: 1 });
    // No other adjustment has a tenant, and the conflicts have no series without one.
    const others = seen.points("entelix.bridge.adjustments").filter(({ attributes }) => {
      return (
        (attributes["entelix.reason"] === "tenant_conflicts") ===
        !("entelix.tenant_id" in attributes)
      );
    });
    expect(others).toEqual([]);
    expect(seen.points("entelix.bridge.adjustments").length).toBeGreaterThan(3);
  });

  it("count a parent and a traceparent in another tenant's trace too", async () => {
    const test = meteredBench();
    squat(test, []);
    const other = "018f3c7a-0000-7000-8000-000000000002";
    const third = "018f3c7a-0000-7000-8000-000000000003";
    test.at(1, new RunEvents(other, "acme").started("child", RUN));
    const traceparent = `00-${RUN.replaceAll("-", "")}-aaaabbbbccccdddd-01`;
    test.at(1, new RunEvents(third, "globex").started("guest"), { traceparent });
    expect(conflicts(await test.collect())).toEqual({ acme: 1, globex: 1 });
  });

  it("show the tenants that the other metrics show, and count the rest as _other", async () => {
    const test = meteredBench({ metrics: { tenants: 2 } });
    squat(test, ["acme", "globex", "initech"]);
    const seen = await test.collect();
    expect(conflicts(seen)).toEqual({ acme: 1, _other: 2 });
    const shown = seen
      .points("entelix.runs.active")
      .map((point) => point.attributes["entelix.tenant_id"]);
    expect(shown).toEqual(["first", "acme", "_other"]);
    expect(test.sink.diagnostics().tenantConflicts).toEqual({ acme: 1, globex: 1, _other: 1 });
  });

  it("show those of a list alone", async () => {
    const test = meteredBench({ metrics: { tenants: ["globex"] } });
    squat(test, ["acme", "globex"]);
    expect(conflicts(await test.collect())).toEqual({ globex: 1, _other: 1 });
    expect(test.sink.diagnostics().tenantConflicts).toEqual({ globex: 1, _other: 1 });
  });

  it("are bounded, whatever tenants there are, and lose no count", async () => {
    const test = meteredBench();
    const tenants = Array.from({ length: 120 }, (_, n) => `t${n}`);
    squat(test, tenants);
    const counts = Object.entries(conflicts(await test.collect()));
    expect(counts.length).toBe(50);
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(120);
    const told = test.sink.diagnostics().tenantConflicts;
    expect(Object.keys(told)).toHaveLength(51);
    expect(told._other).toBe(70);
  });

  it("are summed over bridges, and stay when a bridge is gone", async () => {
    const meter = collectMetrics();
    for (let n = 0; n < 2; n++) {
      const sink = new Bridge({ meterProvider: meter.provider });
      squat({ at: (time, event) => void sink.send(event, { timestamp: second(time) }) }, ["acme"]);
      await sink.shutdown();
    }
    expect(conflicts(await meter.collect())).toEqual({ acme: 2 });
  });

  it("are told by diagnostics also where no metrics are, under whatever name", () => {
    const test = bench();
    squat(test, ["__proto__", "constructor", "t".repeat(200)]);
    const { adjustments, tenantConflicts } = test.diagnostics();
    expect(Object.entries(tenantConflicts)).toEqual([
      ["__proto__", 1],
      ["constructor", 1],
      ["_other", 1],
    ]);
    expect(adjustments.tenant_conflicts).toBe(3);
  });
});
