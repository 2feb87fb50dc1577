import { describe, expect, it } from "vitest";
import { delayOf, idleMs } from "../../../src/bridge/lifecycle/waiting.ts";
import type { Instant } from "../../../src/entries/events.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

const at = (seconds: number): Instant => [10_000 + seconds, 0];

/** A lifecycle whose process's time is told every 5 s, as a live sink tells it. */
function clocked() {
  const lifecycle = new TestLifecycle();
  let now = 0;
  return {
    lifecycle,
    pass: (seconds: number) => {
      for (const until = now + seconds; now < until; ) {
        now += 5;
        lifecycle.runs.tick(at(now), "process");
      }
    },
    /** Of the run, in s. */
    idle: (runId: string) => {
      const run = lifecycle.runs.find("acme", runId);
      return run && idleMs(run, at(now), delayOf(run.tree)) / 1000;
    },
  };
}

describe("how long a run has been silent", () => {
  it("counts from the last event's time where no clock is told", () => {
    const lifecycle = new TestLifecycle();
    lifecycle.startRun("acme", "r", at(0), "react");
    lifecycle.startCall("acme", "r", at(3), "c");
    const run = lifecycle.runs.find("acme", "r");
    const idle = (now: number) => run && idleMs(run, at(now), delayOf(run.tree));
    expect([idle(63), idle(2)]).toEqual([60_000, 0]);
  });

  it("counts from the last event's time where the clocks differ by no more than 10 s", () => {
    const { idle, lifecycle, pass } = clocked();
    pass(5);
    lifecycle.startRun("acme", "r", at(3), "react");
    pass(60);
    expect(idle("r")).toBe(62);
  });

  it.each([
    ["behind", -3600],
    ["ahead", 3600],
  ])("counts from the event's arrival where its clock is %s", (_, skew) => {
    const { idle, lifecycle, pass } = clocked();
    pass(5);
    lifecycle.startRun("acme", "r", at(5 + skew), "react");
    // A clock that is ahead is noticed at the next tick, 5 s later.
    const noticed = skew > 0 ? 5 : 0;
    pass(60);
    expect(idle("r")).toBe(60 - noticed);
    lifecycle.startCall("acme", "r", at(65 + skew), "c");
    expect(idle("r")).toBe(0);
    pass(15);
    expect(idle("r")).toBe(15 - noticed);
  });

  it("starts again with an event that comes late", () => {
    const { idle, lifecycle, pass } = clocked();
    pass(5);
    lifecycle.startRun("acme", "r", at(5), "react");
    pass(600);
    lifecycle.startCall("acme", "r", at(4), "c");
    expect(idle("r")).toBe(0);
    pass(30);
    expect(idle("r")).toBe(30);
  });

  it("is each run's own in a tree, whatever its clock", () => {
    const { idle, lifecycle, pass } = clocked();
    pass(5);
    lifecycle.startRun("acme", "parent", at(-995), "top");
    lifecycle.startRun("acme", "child", at(-995), "expert", "parent");
    pass(60);
    lifecycle.startCall("acme", "child", at(-935), "c");
    pass(10);
    expect([idle("parent"), idle("child")]).toEqual([70, 10]);
  });
});
