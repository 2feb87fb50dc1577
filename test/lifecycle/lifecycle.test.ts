import { describe, expect, it } from "vitest";
import type { Instant } from "../../src/events/instant.ts";
import { Lifecycle } from "../../src/lifecycle/lifecycle.ts";
import { resolveLimits } from "../../src/lifecycle/limits.ts";
import { FakeDriver, NOWHERE } from "./fake-driver.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const at = (seconds: number): Instant => [seconds, 0];

function make(limits: Parameters<typeof resolveLimits>[0] = {}) {
  const driver = new FakeDriver();
  const lifecycle = new Lifecycle(driver, NOWHERE, resolveLimits(limits));
  return { driver, lifecycle };
}

/** A run and its child with a call each, one operation after the other. */
const STEPS: readonly ((lifecycle: Lifecycle<string>) => unknown)[] = [
  (one) => one.startRun("acme", RUN, at(1), "top", undefined),
  (one) => one.approveCall("acme", RUN, at(2), "call_1", "fetch", undefined),
  (one) => one.startCall("acme", RUN, at(3), "call_1", "fetch", undefined, {}),
  (one) => one.startRun("acme", CHILD, at(4), "child", RUN),
  (one) => one.startCall("acme", CHILD, at(5), "call_1", "fetch", undefined, {}),
  (one) => one.denyCall("acme", CHILD, at(6), "call_2", "fetch", "no"),
  (one) => one.noteResumed("acme", CHILD, "other"),
  (one) => one.runs.markOpenRuns(at(100)),
  (one) => one.endCall("acme", RUN, at(7), "call_1", "fetch", undefined, 4000, undefined, "ok"),
  (one) => one.startCall("acme", RUN, at(8), "call_3", "fetch", undefined, {}),
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
      "noteApproval 8000000000000002",
      `openCall ${call(RUN, "call_1")}`,
      "openRun 8000000000000003",
      `openCall ${call(CHILD, "call_1")}`,
      `openCall ${call(CHILD, "call_2")}`,
      `closeCall ${call(CHILD, "call_2")} denied`,
      "noteResumed 8000000000000003",
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
    "noteApproval",
    "mark",
    "noteResumed",
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

describe("what the last signal was about", () => {
  it("is the run and, where it was about one, the call", () => {
    const { lifecycle } = make();
    lifecycle.begin("acme", undefined);
    lifecycle.startRun("acme", RUN, at(1), "top", undefined);
    expect([lifecycle.lastRun?.runId, lifecycle.lastCall]).toEqual([RUN, undefined]);
    lifecycle.begin("acme", undefined);
    lifecycle.startCall("acme", RUN, at(2), "x", "fetch", undefined, {});
    lifecycle.begin("acme", undefined);
    lifecycle.startCall("acme", RUN, at(3), "y", "fetch", undefined, {});
    lifecycle.begin("acme", undefined);
    lifecycle.endCall("acme", RUN, at(4), "x", "fetch", undefined, 1, undefined, "ok");
    expect(lifecycle.lastCall?.id).toBe("x");
    lifecycle.begin("acme", undefined);
    expect([lifecycle.lastRun, lifecycle.lastCall]).toEqual([undefined, undefined]);
    lifecycle.denyCall("acme", RUN, at(5), "z", "fetch", "no");
    expect(lifecycle.lastCall?.id).toBe("z");
  });

  it("is nothing for an event that has come before", () => {
    const { lifecycle } = make();
    expect(lifecycle.begin("acme", "1")).toBe(true);
    lifecycle.startRun("acme", RUN, at(1), "top", undefined);
    expect(lifecycle.begin("acme", "1")).toBe(false);
    expect(lifecycle.lastRun).toBeUndefined();
  });
});

describe("a signal says false", () => {
  it("when it repeats another one without an event id, and true when it is taken", () => {
    const { lifecycle } = make();
    const twice = (signal: () => boolean) => {
      lifecycle.begin("acme", undefined);
      const first = signal();
      lifecycle.begin("acme", undefined);
      return [first, signal()];
    };
    const startCall = () => lifecycle.startCall("acme", RUN, at(2), "x", "f", undefined, {});
    const endCall = () =>
      lifecycle.endCall("acme", RUN, at(3), "x", "f", undefined, 1000, undefined, "ok");
    expect(twice(() => lifecycle.startRun("acme", RUN, at(1), "top", undefined))).toEqual([
      true,
      false,
    ]);
    expect(twice(startCall)).toEqual([true, false]);
    expect(twice(endCall)).toEqual([true, false]);
    expect(twice(() => lifecycle.approveCall("acme", RUN, at(4), "x", "f", 5))).toEqual([
      true,
      false,
    ]);
    expect(twice(() => lifecycle.denyCall("acme", RUN, at(5), "x", "f", "no"))).toEqual([
      true,
      false,
    ]);
    const complete = () => lifecycle.endRun("acme", RUN, at(6), { outcome: "complete" });
    expect(twice(complete)).toEqual([true, false]);
    expect(lifecycle.counters.ignored).toMatchObject({ duplicate: 5, second_terminal: 1 });
  });

  it("when its run id is empty", () => {
    const { lifecycle } = make();
    expect(lifecycle.startRun("acme", "", at(2), "top", undefined)).toBe(false);
    expect(lifecycle.startCall("acme", "", at(2), "x", "f", undefined, {})).toBe(false);
    expect(lifecycle.counters.ignored.empty_run_id).toBe(2);
  });
});

describe("an approval", () => {
  it("brings the wait to its call, where the source says it", () => {
    const { lifecycle } = make();
    lifecycle.begin("acme", undefined);
    lifecycle.startRun("acme", RUN, at(1), "top", undefined);
    lifecycle.approveCall("acme", RUN, at(2), "x", "f", 1500);
    lifecycle.startCall("acme", RUN, at(3), "x", "f", undefined, {});
    expect(lifecycle.lastCall).toMatchObject({ approved: true, approvalWaitMs: 1500 });
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
