import { describe, expect, it } from "vitest";
import type { LifecycleLimits } from "../../../src/bridge/lifecycle/limits.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { Instant } from "../../../src/entries/events.ts";
import type { ModelEnd } from "../../../src/events/door.ts";
import { FakeDriver } from "./fake-driver.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const SPAN = "8000000000000002";
const at = (seconds: number): Instant => [seconds, 0];
const span = (ordinal: number) => RunIds.fromUuid(RUN)?.childSpanId("m", String(ordinal));
const COMPLETE: ModelEnd = { outcome: "complete" };

/** A lifecycle whose driver says what it was asked for, without the run's own opening. */
function start(limits: Partial<LifecycleLimits> = {}) {
  const driver = new FakeDriver();
  const lifecycle = new TestLifecycle(driver, limits);
  return {
    driver,
    lifecycle,
    run: () => lifecycle.runs.find("acme", RUN),
    begin: () => lifecycle.startRun("acme", RUN, at(1), "top"),
    asks: (time: number, id: string, model?: string) =>
      lifecycle.startModelCall("acme", RUN, at(time), id, { model }),
    answers: (time: number, id: string, ms = 1000, end = COMPLETE) =>
      lifecycle.endModelCall("acme", RUN, at(time), id, ms, end),
    done: () => driver.done.filter((line) => line.includes("ModelCall")),
    duplicates: () => lifecycle.counters.ignored.duplicate,
  };
}

describe("model calls that have an id", () => {
  it("are open at once, and numbered in the order of their starts", () => {
    const test = start();
    test.begin();
    expect([test.asks(2, "a"), test.asks(3, "b"), test.asks(4, "c")]).toEqual([true, true, true]);
    expect(test.run()?.models?.size).toBe(3);
    expect(test.answers(5, "b")).toBe(true);
    expect(test.answers(6, "a", 4000, { outcome: "error", problem: { message: "x" } })).toBe(true);
    test.asks(7, "d");
    test.answers(8, "c");
    test.answers(9, "d");
    expect(test.done()).toEqual([
      `openModelCall ${span(1)}`,
      `openModelCall ${span(2)}`,
      `openModelCall ${span(3)}`,
      `closeModelCall ${span(2)} complete`,
      `closeModelCall ${span(1)} error`,
      `openModelCall ${span(4)}`,
      `closeModelCall ${span(3)} complete`,
      `closeModelCall ${span(4)} complete`,
    ]);
    expect(test.run()?.models?.size).toBe(0);
  });

  it.each([
    ["a start of one that is open", [true, false]],
    ["a start and an end of one that has ended", [true, true, false, false]],
  ])("%s is a duplicate", (_, expected) => {
    const test = start();
    test.begin();
    const steps = [
      () => test.asks(2, "a"),
      () => (expected.length === 2 ? test.asks(2, "a", "other") : test.answers(3, "a")),
      () => test.asks(2, "a"),
      () => test.answers(3, "a"),
    ];
    expect(steps.slice(0, expected.length).map((step) => step())).toEqual(expected);
    expect(test.duplicates()).toBe(expected.filter((taken) => !taken).length);
    expect(test.run()?.modelCalls).toBe(1);
  });

  it("of which the end alone is known are made whole, from the end back", () => {
    const test = start();
    test.begin();
    const opened: Instant[] = [];
    const { openModelCall } = test.driver;
    test.driver.openModelCall = function (run, call) {
      opened.push(call.startedAt);
      return openModelCall.call(this, run, call);
    };
    expect(test.answers(9, "a", 2500)).toBe(true);
    expect(opened).toEqual([[6, 500_000_000]]);
    expect(test.answers(9, "a", 2500)).toBe(false);
    expect(test.asks(6, "a")).toBe(false);
    expect(test.duplicates()).toBe(2);
    expect(test.done()).toEqual([`openModelCall ${span(1)}`, `closeModelCall ${span(1)} complete`]);
  });

  it("open a run that was never seen, as far back as they took", () => {
    for (const first of ["start", "end"] as const) {
      const test = start();
      if (first === "start") test.asks(5, "a");
      else test.answers(5, "a", 2000);
      expect(test.run()).toMatchObject({
        startUnseen: true,
        startedAt: at(first === "start" ? 5 : 3),
        open: true,
      });
      expect(test.lifecycle.counters.adjustments.unseen_starts).toBe(1);
    }
  });

  it("close with their run, unfinished, before its span", () => {
    const test = start();
    test.begin();
    test.asks(2, "a");
    test.asks(3, "b");
    test.lifecycle.endRun("acme", RUN, at(4), { outcome: "complete" });
    expect(test.driver.done.slice(-3)).toEqual([
      `closeModelCall ${span(1)} unfinished`,
      `closeModelCall ${span(2)} unfinished`,
      `closeRun ${SPAN} complete`,
    ]);
    expect([test.answers(5, "a"), test.asks(5, "c")]).toEqual([false, false]);
    expect(test.lifecycle.counters.ignored.after_end).toBe(2);
  });

  it("go on with a run that goes on, and in its numbers", () => {
    const test = start();
    test.begin();
    test.asks(2, "a");
    test.asks(2, "b");
    test.answers(3, "a");
    test.lifecycle.endRun("acme", RUN, at(4), { outcome: "interrupted" });
    test.begin();
    test.lifecycle.startRun("acme", RUN, at(10), "top");
    expect(test.answers(11, "a")).toBe(false);
    expect(test.answers(11, "b")).toBe(true);
    expect(test.done().slice(-2)).toEqual([
      `openModelCall ${span(3)}`,
      `closeModelCall ${span(3)} complete`,
    ]);
  });

  it("revive a run that was given up", () => {
    const test = start();
    test.begin();
    test.lifecycle.runs.abandonAll("limit", at(2));
    expect(test.asks(3, "a")).toBe(true);
    expect(test.run()).toMatchObject({ open: true, segment: 2, startSeen: false });
  });

  it("of no run are counted", () => {
    const { lifecycle, begin } = start();
    begin();
    expect(lifecycle.startModelCall("acme", "", at(2), "a", {})).toBe(false);
    expect(lifecycle.endModelCall("acme", "", at(2), "a", 0, COMPLETE)).toBe(false);
    expect(lifecycle.counters.ignored.empty_run_id).toBe(2);
  });

  it("share the limit of open calls; an end that still comes makes the call anew", () => {
    const test = start({ openCalls: 2 });
    test.begin();
    for (const id of ["a", "b", "c"]) test.asks(2, id);
    expect(test.done().at(-1)).toBe(`closeModelCall ${span(1)} unfinished`);
    expect(test.run()?.models?.size).toBe(2);
    expect(test.lifecycle.counters.adjustments.evicted_calls).toBe(1);
    expect(test.answers(5, "a")).toBe(true);
    expect(test.run()?.modelCalls).toBe(4);
  });

  it("are remembered by the last 128 to 256 ids that ended; what is forgotten is counted", () => {
    const test = start();
    test.begin();
    for (let n = 0; n < 257; n++) test.answers(2, `m${n}`);
    expect(test.lifecycle.runs.forgottenCallIds).toBe(128);
    expect([test.answers(2, "m128"), test.answers(2, "m256")]).toEqual([false, false]);
    expect(test.answers(2, "m0")).toBe(true);
  });

  it("cost a run without any nothing", () => {
    const test = start();
    test.begin();
    expect(test.run()?.models).toBeUndefined();
  });
});

describe("model calls without an id", () => {
  it("are open one at a time, beside those that have one", () => {
    const test = start();
    test.begin();
    test.asks(2, "a");
    test.asks(3, "");
    test.asks(4, "");
    test.answers(5, "");
    test.answers(6, "", 1000);
    test.answers(7, "a");
    expect(test.done()).toEqual([
      `openModelCall ${span(1)}`,
      `openModelCall ${span(2)}`,
      `closeModelCall ${span(2)} unfinished`,
      `openModelCall ${span(3)}`,
      `closeModelCall ${span(3)} complete`,
      `openModelCall ${span(4)}`,
      `closeModelCall ${span(4)} complete`,
      `closeModelCall ${span(1)} complete`,
    ]);
    expect(test.duplicates()).toBe(0);
  });

  it("of another runtime's signals leave those with an id alone", () => {
    const test = start();
    const run = { tenantId: "acme", runId: RUN };
    test.begin();
    test.asks(2, "a");
    test.lifecycle.say({ ...run, at: at(3), signal: "model_opens" });
    test.lifecycle.say({ ...run, at: at(4), signal: "model_closes", end: COMPLETE });
    test.lifecycle.say({ ...run, at: at(5), signal: "model_closes", end: COMPLETE });
    expect(test.done().slice(1)).toEqual([
      `openModelCall ${span(2)}`,
      `closeModelCall ${span(2)} complete`,
    ]);
    expect(test.run()?.models?.size).toBe(1);
  });
});
