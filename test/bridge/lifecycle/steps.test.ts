import { describe, expect, it } from "vitest";
import type { LifecycleLimits } from "../../../src/bridge/lifecycle/limits.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { Instant } from "../../../src/entries/events.ts";
import type { StepEnd } from "../../../src/events/door.ts";
import { FakeDriver } from "./fake-driver.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const SPAN = "8000000000000002";
const at = (seconds: number): Instant => [seconds, 0];
const idOf = (role: "p" | "m" | "t", text: string | number) =>
  RunIds.fromUuid(RUN)?.childSpanId(role, String(text)) ?? "";
const step = (ordinal: number) => idOf("p", ordinal);
const run = { tenantId: "acme", runId: RUN };

/** A lifecycle with an open run, whose driver says what it was asked for since. */
function start(limits: Partial<LifecycleLimits> = {}) {
  const driver = new FakeDriver();
  const lifecycle = new TestLifecycle(driver, limits);
  lifecycle.startRun("acme", RUN, at(1), "top");
  driver.done.length = 0;
  return {
    driver,
    lifecycle,
    run: () => lifecycle.runs.find("acme", RUN),
    done: () => driver.done.splice(0),
    ignored: () => lifecycle.counters.ignored,
  };
}

describe("the spans of steps", () => {
  it("have ids of the role p and the ordinal of their starts", () => {
    const ids = RunIds.fromUuid(RUN);
    expect([ids?.childSpanId("p", "1"), ids?.childSpanId("p", "2")]).toEqual([
      "b0350205bd1b55ca",
      "b59e67f218078700",
    ]);
  });

  it("are open at once, numbered in the order of their starts, and close by their ids", () => {
    const { lifecycle, done } = start();
    lifecycle.startStep(RUN, at(2), "a");
    lifecycle.startStep(RUN, at(3), "b");
    const failed: StepEnd = {
      outcome: "error",
      message: "x",
      envelope: { wire_code: "invalid_request", wire_class: "client" },
    };
    lifecycle.endStep(RUN, at(4), "a", 2000, failed);
    lifecycle.endStep(RUN, at(5), "b", 2000, { outcome: "interrupted" });
    expect(done()).toEqual([
      `openStep ${step(1)} in run`,
      `openStep ${step(2)} in run`,
      `closeStep ${step(1)} error`,
      `closeStep ${step(2)} interrupted`,
    ]);
  });

  it("are made whole of an end alone, from the end back, in the step that it names", () => {
    const { driver, lifecycle, done } = start();
    const opened: Instant[] = [];
    const { openStep } = driver;
    driver.openStep = function (of, each, ...rest) {
      opened.push(each.startedAt);
      return openStep.call(this, of, each, ...rest);
    };
    lifecycle.startStep(RUN, at(2), "a");
    expect(lifecycle.endStep(RUN, at(9), "b", 2500, undefined, { inStepId: "a" })).toBe(true);
    expect(opened).toEqual([at(2), [6, 500_000_000]]);
    expect(done().slice(1)).toEqual([
      `openStep ${step(2)} in ${step(1)}`,
      `closeStep ${step(2)} complete`,
    ]);
  });

  it("close with their run, unfinished, the inner ones first, and just before it", () => {
    const { lifecycle, done, ignored } = start();
    lifecycle.startStep(RUN, at(2), "a");
    lifecycle.startStep(RUN, at(3), "b", { inStepId: "a" });
    lifecycle.startCall("acme", RUN, at(3), "t1");
    done();
    lifecycle.endRun("acme", RUN, at(4), { outcome: "complete" });
    expect(done()).toEqual([
      `closeCall ${idOf("t", "t1")} unfinished`,
      `closeStep ${step(2)} unfinished`,
      `closeStep ${step(1)} unfinished`,
      `closeRun ${SPAN} complete`,
    ]);
    expect([lifecycle.endStep(RUN, at(5), "a"), lifecycle.startStep(RUN, at(5), "c")]).toEqual([
      false,
      false,
    ]);
    expect(ignored().after_end).toBe(2);
  });

  it("go on with a run that goes on, and in its numbers", () => {
    const { lifecycle, done } = start();
    lifecycle.startStep(RUN, at(2), "a");
    lifecycle.endStep(RUN, at(3), "a", 1000, { outcome: "interrupted" });
    lifecycle.endRun("acme", RUN, at(4), { outcome: "interrupted" });
    lifecycle.startRun("acme", RUN, at(10), "top");
    done();
    expect(lifecycle.endStep(RUN, at(11), "a")).toBe(false);
    expect(lifecycle.startStep(RUN, at(11), "b")).toBe(true);
    expect(done()).toEqual([`openStep ${step(2)} in run`]);
  });

  it("open a run that was never seen, as far back as they took, and revive one that was given up", () => {
    for (const first of ["start", "end"] as const) {
      const lifecycle = new TestLifecycle();
      if (first === "start") lifecycle.startStep(RUN, at(5), "a");
      else lifecycle.endStep(RUN, at(5), "a", 2000);
      expect(lifecycle.runs.find("acme", RUN)).toMatchObject({
        startUnseen: true,
        startedAt: at(first === "start" ? 5 : 3),
      });
    }
    const { lifecycle, run } = start();
    lifecycle.runs.abandonAll("limit", at(2));
    expect(lifecycle.startStep(RUN, at(3), "a")).toBe(true);
    expect(run()).toMatchObject({ open: true, segment: 2 });
  });

  it("an end before its start is moved to the start, and counted", () => {
    const { lifecycle } = start();
    lifecycle.startStep(RUN, at(5), "a");
    lifecycle.endStep(RUN, at(4), "a");
    expect(lifecycle.counters.adjustments.clamped).toBe(1);
  });
});

describe("duplicates of steps", () => {
  it("are known by the step's id, while it is open and after its end", () => {
    const { lifecycle, ignored } = start();
    const taken = [
      lifecycle.startStep(RUN, at(2), "a"),
      lifecycle.startStep(RUN, at(2), "a"),
      lifecycle.endStep(RUN, at(3), "a"),
      lifecycle.endStep(RUN, at(3), "a"),
      lifecycle.startStep(RUN, at(2), "a"),
    ];
    expect(taken).toEqual([true, false, true, false, false]);
    expect(ignored().duplicate).toBe(3);
  });

  it("are remembered for the last 128 to 256 steps that ended; what is forgotten is counted", () => {
    const { lifecycle } = start();
    for (let n = 0; n < 257; n++) lifecycle.endStep(RUN, at(2), `s${n}`);
    expect(lifecycle.runs.forgottenCallIds).toBe(128);
    expect([lifecycle.endStep(RUN, at(2), "s128"), lifecycle.endStep(RUN, at(2), "s0")]).toEqual([
      false,
      true,
    ]);
  });
});

describe("the bound of open steps", () => {
  it("closes the oldest, counts it, and still knows it by its id", () => {
    const { lifecycle, run, done } = start({ openCalls: 2 });
    for (const id of ["a", "b", "c"]) lifecycle.startStep(RUN, at(2), id);
    expect(done().at(-1)).toBe(`closeStep ${step(1)} unfinished`);
    expect(run()?.steps?.size).toBe(2);
    expect(lifecycle.counters.adjustments).toMatchObject({ evicted_steps: 1, evicted_calls: 0 });
    expect(lifecycle.endStep(RUN, at(5), "a")).toBe(false);
  });
});

describe("what is inside a step", () => {
  const opens = (lifecycle: TestLifecycle, inStepId: string) => {
    lifecycle.say({ ...run, signal: "call_opens", at: at(3), callId: "t1", name: "f", inStepId });
    lifecycle.say({ ...run, signal: "model_opens", at: at(3), modelCallId: "m1", inStepId });
    lifecycle.say({ ...run, signal: "model_opens", at: at(3), inStepId });
    lifecycle.startStep(RUN, at(3), "inner", { inStepId });
  };
  const opened = (parent: string) => {
    const where = parent === "run" ? "" : ` in ${parent}`;
    return [
      `openCall ${idOf("t", "t1")}${where}`,
      `openModelCall ${idOf("m", 1)}${where}`,
      `openModelCall ${idOf("m", 2)}${where}`,
    ];
  };

  it("stands below it: calls, model calls and steps, also when it has ended", () => {
    for (const ended of [false, true]) {
      const { lifecycle, done } = start();
      lifecycle.startStep(RUN, at(2), "a");
      if (ended) lifecycle.endStep(RUN, at(2), "a");
      done();
      opens(lifecycle, "a");
      expect(done()).toEqual([...opened(step(1)), `openStep ${step(2)} in ${step(1)}`]);
    }
  });

  it("stands below the run where the step is not known", () => {
    const { lifecycle, done } = start();
    opens(lifecycle, "a");
    expect(done()).toEqual([...opened("run"), `openStep ${step(1)} in run`]);
  });

  it("stands below the run where steps are not followed, and a step is activity of its run", () => {
    const driver = new FakeDriver();
    const limits = new TestLifecycle(driver, {}, undefined, false);
    limits.startStep(RUN, at(1), "early");
    expect(driver.done).toEqual([]);
    limits.startRun("acme", RUN, at(1), "top");
    driver.done.length = 0;
    limits.startStep(RUN, at(2), "a");
    opens(limits, "a");
    limits.endStep(RUN, at(9), "a");
    expect(driver.done).toEqual(opened("run"));
    expect(limits.runs.find("acme", RUN)?.lastAt).toEqual(at(9));
  });

  it("of which the end alone is known stands below it where the end names it", () => {
    const { lifecycle, done } = start();
    lifecycle.startStep(RUN, at(2), "a");
    const call = { ...run, at: at(3), callId: "t1", name: "f", durationMs: 5 };
    const end = { outcome: "complete", content: 1 } as const;
    lifecycle.say({ ...call, signal: "call_closes", inStepId: "a", end });
    lifecycle.say({ ...call, signal: "call_closes", callId: "t2", end });
    lifecycle.say({
      ...run,
      signal: "call_denied",
      at: at(3),
      callId: "t3",
      name: "f",
      inStepId: "a",
    });
    const model = { ...run, at: at(3), modelCallId: "m1", durationMs: 5 };
    lifecycle.say({ ...model, signal: "model_closes", inStepId: "a", end });
    expect(done().filter((line) => line.startsWith("openC") || line.startsWith("openM"))).toEqual([
      `openCall ${idOf("t", "t1")} in ${step(1)}`,
      `openCall ${idOf("t", "t2")}`,
      `openCall ${idOf("t", "t3")} in ${step(1)}`,
      `openModelCall ${idOf("m", 1)} in ${step(1)}`,
    ]);
  });

  it("a step in a call stands below the call, else below the step that the call is in", () => {
    const { lifecycle, done } = start();
    lifecycle.startStep(RUN, at(2), "a");
    lifecycle.say({
      ...run,
      signal: "call_opens",
      at: at(3),
      callId: "t1",
      name: "f",
      inStepId: "a",
    });
    done();
    lifecycle.startStep(RUN, at(3), "b", { inStepId: "a", inCallId: "t1" });
    lifecycle.startStep(RUN, at(3), "c", { inStepId: "b", inCallId: "t1" });
    lifecycle.startStep(RUN, at(3), "d", { inStepId: "a", inCallId: "unknown" });
    expect(done()).toEqual([
      `openStep ${step(2)} in ${idOf("t", "t1")}`,
      `openStep ${step(3)} in ${step(2)}`,
      `openStep ${step(4)} in ${step(1)}`,
    ]);
  });
});

describe("a child run", () => {
  function childIn(
    inStepId: string | undefined,
    parentCallId?: string | null,
    before: (lifecycle: TestLifecycle) => void = () => {},
  ) {
    const { lifecycle } = start();
    lifecycle.startStep(RUN, at(2), "a");
    lifecycle.say({
      ...run,
      signal: "call_opens",
      at: at(2),
      callId: "t1",
      name: "f",
      inStepId: "a",
    });
    lifecycle.startStep(RUN, at(2), "b", { inStepId: "a", inCallId: "t1" });
    before(lifecycle);
    if (parentCallId !== undefined) lifecycle.parentContext = { parentCallId };
    lifecycle.say({
      signal: "run_opens",
      tenantId: "acme",
      runId: CHILD,
      at: at(3),
      parentRunId: RUN,
      inStepId,
      originInEnvelope: true,
    });
    const child = lifecycle.runs.find("acme", CHILD);
    return { handle: child?.parentHandle, inferred: child?.parentInferred };
  }

  it.each([
    ["in a step", "a", undefined, step(1)],
    ["in a step and in no call", "a", null, step(1)],
    ["in a call of the step", "a", "t1", idOf("t", "t1")],
    ["in a step of the call", "b", "t1", step(2)],
    ["in a step that is not known, and in no call", "x", null, SPAN],
  ])("%s", (_, stepId, callId, parent) => {
    expect(childIn(stepId, callId)).toEqual({ handle: parent, inferred: false });
  });

  it("in a step that is not known is taken to be in the only open call, as one in no step is", () => {
    expect(childIn("x")).toEqual({ handle: idOf("t", "t1"), inferred: true });
    expect(childIn(undefined)).toEqual({ handle: idOf("t", "t1"), inferred: true });
  });

  it("in a step that has ended stands below it; below the run where that is over", () => {
    expect(childIn("a", undefined, (lifecycle) => lifecycle.endStep(RUN, at(3), "a")).handle).toBe(
      step(1),
    );
    const isOver = (lifecycle: TestLifecycle) =>
      lifecycle.endRun("acme", RUN, at(3), { outcome: "complete" });
    expect(childIn("a", undefined, isOver).handle).toBe(SPAN);
  });
});

it("a run without steps keeps nothing for them", () => {
  expect(start().run()?.steps).toBeUndefined();
});
