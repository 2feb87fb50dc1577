import { describe, expect, it } from "vitest";
import { resolveLimits } from "../../../src/bridge/lifecycle/limits.ts";
import type { Instant } from "../../../src/entries/events.ts";
import { FakeDriver } from "./fake-driver.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const at = (seconds: number): Instant => [seconds, 0];

function make(limits: Parameters<typeof resolveLimits>[0] = {}) {
  const driver = new FakeDriver();
  const lifecycle = new TestLifecycle(driver, limits);
  return { driver, lifecycle };
}

/** A run and its child with a call each, one operation after the other. */
const STEPS: readonly ((lifecycle: TestLifecycle) => unknown)[] = [
  (one) => one.startRun("acme", RUN, at(1), "top"),
  (one) => one.approveCall("acme", RUN, at(2), "call_1", "fetch"),
  (one) => one.startCall("acme", RUN, at(3), "call_1", "fetch"),
  (one) => one.startRun("acme", CHILD, at(4), "child", RUN),
  (one) => one.startCall("acme", CHILD, at(5), "call_1", "fetch"),
  (one) => one.denyCall("acme", CHILD, at(6), "call_2", "fetch"),
  (one) => one.runs.linkResumed("acme", CHILD, "other"),
  (one) => one.runs.markOpenRuns(at(100)),
  (one) => one.endCall("acme", RUN, at(7), "call_1", "fetch", 4000),
  (one) => one.startCall("acme", RUN, at(8), "call_3", "fetch"),
  (one) => one.endRun("acme", CHILD, at(9), { outcome: "interrupted" }),
  (one) => one.startRun("acme", CHILD, at(10), "child", RUN),
  (one) => one.endRun("acme", RUN, at(11), { outcome: "complete" }),
];

describe("the lifecycle's calls of its driver", () => {
  it("come in the order of events; what is open closes just before its run", () => {
    const { driver, lifecycle } = make();
    for (const step of STEPS) step(lifecycle);
    lifecycle.runs.abandonAll("shutdown");
    const call = (run: string, id: string) => {
      const found = lifecycle.runs.find("acme", run);
      return found?.ids.childSpanId("t", id);
    };
    const second = lifecycle.runs.find("acme", CHILD)?.ids.childSpanId("s", "2");
    expect(driver.done).toEqual([
      "openRun 8000000000000002",
      "addApprovalEvent 8000000000000002",
      `openCall ${call(RUN, "call_1")}`,
      "openRun 8000000000000003",
      `openCall ${call(CHILD, "call_1")}`,
      `openCall ${call(CHILD, "call_2")}`,
      `closeCall ${call(CHILD, "call_2")} denied`,
      "linkResumed 8000000000000003",
      "mark 8000000000000002",
      "mark 8000000000000003",
      `closeCall ${call(RUN, "call_1")} complete`,
      `openCall ${call(RUN, "call_3")}`,
      `closeCall ${call(CHILD, "call_1")} unfinished`,
      "closeRun 8000000000000003 interrupted",
      `openRun ${second}`,
      `closeCall ${call(RUN, "call_3")} unfinished`,
      "closeRun 8000000000000002 complete",
      `closeRun ${second} abandoned`,
    ]);
  });
});

describe("a driver that throws, which it must not", () => {
  const operations = [
    "openRun",
    "completeRun",
    "closeRun",
    "openCall",
    "closeCall",
    "addApprovalEvent",
    "mark",
    "linkResumed",
  ];

  for (const operation of operations) {
    it(`in ${operation} leaves the state so that everything still closes`, () => {
      for (let from = 0; from < STEPS.length; from++) {
        const { driver, lifecycle } = make();
        for (const [n, step] of STEPS.entries()) {
          driver.broken = n === from ? operation : undefined;
          try {
            step(lifecycle);
          } catch (error) {
            expect(String(error)).toBe(`Error: ${operation}`);
          }
        }
        driver.broken = undefined;
        lifecycle.runs.abandonAll("shutdown");
        expect(lifecycle.runs.openRuns).toBe(0);
        const count = (prefix: string) =>
          driver.done.filter((entry) => entry.startsWith(prefix)).length;
        // Nothing that was opened is closed twice, and nothing stays open but what broke in closing.
        const spans = driver.done
          .filter((entry) => entry.startsWith("close"))
          .map((entry) => entry.split(" ")[1]);
        expect(new Set(spans).size).toBe(spans.length);
        if (operation !== "openRun" && operation !== "closeRun") {
          expect(count("closeRun")).toBe(count("openRun"));
        }
      }
    });
  }
});

describe("what a signal has done", () => {
  it("is the run and, where it was about one, the call", () => {
    const { lifecycle } = make();
    lifecycle.startRun("acme", RUN, at(1), "top");
    expect([lifecycle.last?.run?.runId, lifecycle.last?.call]).toEqual([RUN, undefined]);
    lifecycle.startCall("acme", RUN, at(2), "x", "fetch");
    lifecycle.startCall("acme", RUN, at(3), "y", "fetch");
    lifecycle.endCall("acme", RUN, at(4), "x", "fetch", 1);
    expect(lifecycle.last?.call?.id).toBe("x");
    lifecycle.denyCall("acme", RUN, at(5), "z", "fetch");
    expect(lifecycle.last?.call?.id).toBe("z");
  });

  it("is not asked of an event that has come before", () => {
    const { lifecycle } = make();
    expect(lifecycle.begin("acme", "1")).toBe(true);
    lifecycle.startRun("acme", RUN, at(1), "top");
    expect(lifecycle.begin("acme", "1")).toBe(false);
    expect(lifecycle.counters.ignored.duplicate).toBe(1);
  });
});

describe("a signal is not taken", () => {
  it("when it repeats another one without an event id, and is when it is new", () => {
    const { lifecycle } = make();
    const twice = (signal: () => boolean) => [signal(), signal()];
    const startCall = () => lifecycle.startCall("acme", RUN, at(2), "x", "f");
    const endCall = () => lifecycle.endCall("acme", RUN, at(3), "x", "f", 1000);
    expect(twice(() => lifecycle.startRun("acme", RUN, at(1), "top"))).toEqual([true, false]);
    expect(twice(startCall)).toEqual([true, false]);
    expect(twice(endCall)).toEqual([true, false]);
    expect(twice(() => lifecycle.approveCall("acme", RUN, at(4), "x", "f"))).toEqual([true, false]);
    expect(twice(() => lifecycle.denyCall("acme", RUN, at(5), "x", "f"))).toEqual([true, false]);
    const complete = () => lifecycle.endRun("acme", RUN, at(6), { outcome: "complete" });
    expect(twice(complete)).toEqual([true, false]);
    expect(lifecycle.counters.ignored).toMatchObject({ duplicate: 5, second_terminal: 1 });
  });

  it("when tenant or run are no text", () => {
    const { driver, lifecycle } = make();
    const run: { tenantId: string; runId: string } = JSON.parse('{"tenantId":"acme","runId":7}');
    expect(lifecycle.startRun(run.tenantId, run.runId, at(1), "top")).toBe(false);
    expect(lifecycle.startCall(run.runId, RUN, at(1), "x")).toBe(false);
    expect(lifecycle.counters.ignored.not_an_event).toBe(2);
    expect(driver.done).toEqual([]);
  });

  it("when its run id is empty", () => {
    const { lifecycle } = make();
    expect(lifecycle.startRun("acme", "", at(2), "top")).toBe(false);
    expect(lifecycle.startCall("acme", "", at(2), "x", "f")).toBe(false);
    expect(lifecycle.counters.ignored.empty_run_id).toBe(2);
  });
});

describe("an approval", () => {
  it("brings the wait to its call, where the source says it", () => {
    const { lifecycle } = make();
    lifecycle.startRun("acme", RUN, at(1), "top");
    const call = { tenantId: "acme", runId: RUN, callId: "x", name: "f" };
    lifecycle.say({ ...call, at: at(2), signal: "call_approved", waitMs: 1500 });
    lifecycle.startCall("acme", RUN, at(3), "x", "f");
    expect(lifecycle.last?.call).toMatchObject({ approved: true, approvalWaitMs: 1500 });
  });

  it("is of the next call, where the source decides before a call starts", () => {
    const { lifecycle } = make();
    lifecycle.startCall("acme", RUN, at(1), "x", "f");
    const first = lifecycle.last?.call;
    lifecycle.approveCall("acme", RUN, at(2), "x", "f");
    lifecycle.startCall("acme", RUN, at(3), "x", "g");
    expect([first?.approved, lifecycle.last?.call?.approved]).toEqual([false, true]);
    lifecycle.denyCall("acme", RUN, at(4), "x", "f");
    expect([lifecycle.last?.call?.occurrence, first?.handle]).toEqual([3, expect.any(String)]);
  });
});

describe("limits", () => {
  it("are the defaults of the contract, but for what is given", () => {
    expect(resolveLimits()).toEqual({
      openRuns: 10_000,
      openCalls: 10_000,
      closedRuns: 10_000,
      eventIds: 100_000,
      callIds: 10_000,
      totalCallIds: 1_000_000,
      maxAgeMs: 86_400_000,
      markerAfterMs: 30_000,
    });
    expect(resolveLimits({ openRuns: 5 })).toMatchObject({
      openRuns: 5,
      maxAgeMs: 86_400_000,
    });
  });
});
