import { performance } from "node:perf_hooks";
import { describe, expect, it } from "vitest";
import { FakeDriver } from "./fake-driver.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

/** Milliseconds that 500 starts take where so many runs of as many tenants are open, and no more may be. */
function costAt(openRuns: number): number {
  const lifecycle = new TestLifecycle(new FakeDriver(), { openRuns, closedRuns: 1_000 });
  let number = 0;
  const start = () => {
    lifecycle.startRun(`tenant-${number}`, `run-${number}`, [++number, 0], "react");
  };
  while (number <= openRuns) start();
  let least = Number.POSITIVE_INFINITY;
  // The least of many: others have the machine too.
  for (let round = 0; round < 20; round++) {
    const from = performance.now();
    for (let n = 0; n < 500; n++) start();
    least = Math.min(least, performance.now() - from);
  }
  expect(lifecycle.runs.openRuns).toBe(openRuns);
  expect(lifecycle.counters.adjustments.evicted_runs).toBe(number - openRuns);
  return least;
}

describe("a run that starts where too many are open", () => {
  it("costs hardly more where thirty times as many tenants have one", () => {
    // A walk past all of them made it thirty times as much.
    expect(costAt(15_000) / costAt(500)).toBeLessThan(8);
  }, 30_000);
});
