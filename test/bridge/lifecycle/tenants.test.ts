import { describe, expect, it } from "vitest";
import type { LifecycleLimits } from "../../../src/bridge/lifecycle/limits.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { Instant } from "../../../src/entries/events.ts";
import { FakeDriver } from "./fake-driver.ts";
import { type SignalKind, TestLifecycle } from "./test-lifecycle.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const at = (seconds: number): Instant => [seconds, 0];
const hashed = (tenant: string, runId = RUN) => RunIds.hashed(tenant, runId);

function make(limits: Partial<LifecycleLimits> = {}) {
  const driver = new FakeDriver();
  const conflicts: string[] = [];
  const lifecycle = new TestLifecycle(driver, limits, (tenant) => void conflicts.push(tenant));
  const say = (tenantId: string, seconds: number, kind: SignalKind) =>
    void lifecycle.say({ tenantId, runId: RUN, at: at(seconds), ...kind });
  return { driver, lifecycle, conflicts, say };
}

type Test = ReturnType<typeof make>;
type Send = (test: Test, tenant: string, seconds: number) => void;

/** Everything that may be the first that is heard of a run, by event or by a dialect's signal. */
const OPENING: Readonly<Record<string, Send>> = {
  started: ({ lifecycle }, tenant, s) => void lifecycle.startRun(tenant, RUN, at(s), "top"),
  tool_start: ({ lifecycle }, tenant, s) => void lifecycle.startCall(tenant, RUN, at(s), "x"),
  tool_complete: ({ lifecycle }, tenant, s) => void lifecycle.endCall(tenant, RUN, at(s), "x"),
  tool_error: ({ lifecycle }, tenant, s) => {
    const end = { outcome: "error", message: "reset" } as const;
    lifecycle.endCall(tenant, RUN, at(s), "x", "f", 0, end);
  },
  approved: ({ lifecycle }, tenant, s) => void lifecycle.approveCall(tenant, RUN, at(s), "x"),
  denied: ({ lifecycle }, tenant, s) => void lifecycle.denyCall(tenant, RUN, at(s), "x"),
  model_start: ({ lifecycle }, tenant, s) => void lifecycle.startModelCall(tenant, RUN, at(s), "m"),
  model_complete: ({ lifecycle }, tenant, s) =>
    void lifecycle.endModelCall(tenant, RUN, at(s), "m"),
  complete: ({ lifecycle }, tenant, s) =>
    void lifecycle.endRun(tenant, RUN, at(s), { outcome: "complete" }),
  failed: ({ lifecycle }, tenant, s) => {
    const kind = { type: "model_dispatch" } as const;
    lifecycle.endRun(tenant, RUN, at(s), { outcome: "failed", kind, message: "down" });
  },
  interrupted: ({ lifecycle }, tenant, s) =>
    void lifecycle.endRun(tenant, RUN, at(s), { outcome: "interrupted" }),
  "a note": ({ say }, tenant, s) => say(tenant, s, { signal: "span_event", name: "n" }),
  "a fact": ({ say }, tenant, s) => say(tenant, s, { signal: "attributes", attributes: { a: 1 } }),
  "a dialect's model call": ({ say }, tenant, s) => say(tenant, s, { signal: "model_opens" }),
  "a dialect's denial": ({ say }, tenant, s) =>
    say(tenant, s, { signal: "call_denied", callId: "x", name: "f", content: "no" }),
};

/** What says nothing of a run that nobody has seen. */
const SILENT: Readonly<Record<string, Send>> = {
  "an event of an unknown type": ({ say }, tenant, s) =>
    say(tenant, s, { signal: "activity", unknownType: true }),
  "a resumption": ({ lifecycle }, tenant) => lifecycle.runs.linkResumed(tenant, RUN, CHILD),
  "a possible end": ({ say }, tenant, s) =>
    say(tenant, s, { signal: "run_may_end", end: { outcome: "complete" } }),
  "a model call's end": ({ say }, tenant, s) =>
    say(tenant, s, { signal: "model_closes", end: { outcome: "complete" } }),
  "a sign of life": ({ say }, tenant, s) => say(tenant, s, { signal: "activity" }),
};

/** How the first tenant's run stands when the second tenant's event comes. */
const STATES: Readonly<Record<string, (test: Test) => void>> = {
  open: () => {},
  "open and never announced": () => {},
  complete: ({ lifecycle }) => void lifecycle.endRun("beta", RUN, at(2), { outcome: "complete" }),
  interrupted: ({ lifecycle }) =>
    void lifecycle.endRun("beta", RUN, at(2), { outcome: "interrupted" }),
  abandoned: ({ lifecycle }) => lifecycle.runs.abandonAll("limit", at(2)),
};

function begin(state: string): Test {
  const test = make();
  const { lifecycle } = test;
  if (state === "open and never announced") {
    lifecycle.startCall("beta", RUN, at(1), "x");
  } else lifecycle.startRun("beta", RUN, at(1), "first");
  STATES[state]?.(test);
  return test;
}

/** The first tenant's run as it stands, apart from objects that are made anew when it is asked for. */
function stateOf({ lifecycle }: Test, tenant: string) {
  const run = lifecycle.runs.find(tenant, RUN);
  if (run === undefined) return undefined;
  const { agent, ids, mayEnd, open, outcome, resumedFromRunId, segment, traceId } = run;
  const { approvedCalls, deniedCalls, lastAt, modelCalls, toolCalls } = run;
  return [
    ...[agent, ids.hashed, mayEnd, open, outcome, resumedFromRunId, segment, traceId],
    ...[approvedCalls, deniedCalls, open ? lastAt : undefined, modelCalls, toolCalls],
  ];
}

describe.each(Object.keys(STATES))("where another tenant's run of the id is %s", (state) => {
  it.each(Object.entries(OPENING))("%s opens the tenant's own run", (_, send) => {
    const test = begin(state);
    const before = stateOf(test, "beta");
    send(test, "acme", 5);
    const { traceId, spanId } = hashed("acme");
    expect(test.lifecycle.runs.find("acme", RUN)).toMatchObject({ tenantId: "acme", traceId });
    expect(test.driver.done).toContain(`openRun ${spanId}`);
    expect(test.conflicts).toEqual(["acme"]);
    expect(test.lifecycle.counters.adjustments.tenant_conflicts).toBe(1);
    expect(stateOf(test, "beta")).toEqual(before);
  });

  it.each(Object.entries(SILENT))("%s opens none", (_, send) => {
    const test = begin(state);
    const [before, done] = [stateOf(test, "beta"), test.driver.done.length];
    send(test, "acme", 5);
    expect(test.lifecycle.runs.find("acme", RUN)).toBeUndefined();
    expect(stateOf(test, "beta")).toEqual(before);
    expect([test.driver.done.length, test.conflicts]).toEqual([done, []]);
  });
});

describe("a run that an event other than its start had to open beside another tenant's", () => {
  it("is named by its late start, and ends by its own end", () => {
    const { conflicts, driver, lifecycle } = begin("open");
    lifecycle.startCall("acme", RUN, at(5), "x");
    expect(lifecycle.startRun("acme", RUN, at(6), "bank")).toBe(true);
    expect(lifecycle.endRun("acme", RUN, at(7), { outcome: "complete" })).toBe(true);
    const { spanId } = hashed("acme");
    const call = hashed("acme").childSpanId("t", "x");
    expect(driver.done.slice(1)).toEqual([
      `openRun ${spanId}`,
      `openCall ${call}`,
      `completeRun ${spanId}`,
      `closeCall ${call} unfinished`,
      `closeRun ${spanId} complete`,
    ]);
    expect(lifecycle.runs.find("acme", RUN)).toMatchObject({ agent: "bank", outcome: "complete" });
    expect(lifecycle.runs.find("beta", RUN)).toMatchObject({ agent: "first", open: true });
    // One run, one conflict, however many events it has.
    expect(conflicts).toEqual(["acme"]);
  });

  it("is the parent and the root of the tenant's own children", () => {
    const { lifecycle } = begin("open");
    lifecycle.startCall("acme", RUN, at(5), "x");
    lifecycle.startRun("acme", CHILD, at(6), "child", RUN);
    const { traceId } = hashed("acme");
    expect(lifecycle.runs.find("acme", CHILD)).toMatchObject({ traceId, rootRunId: RUN });
    lifecycle.parentContext = { rootRunId: RUN };
    lifecycle.startCall("acme", "r1", at(7), "x");
    expect(lifecycle.runs.find("acme", "r1")).toMatchObject({ traceId, rootRunId: RUN });
  });

  it("is what a tenant's run was resumed from, and never another tenant's", () => {
    const { lifecycle } = begin("complete");
    const own = lifecycle.runs.create("acme", CHILD, at(5));
    expect(lifecycle.runs.resumedFrom(own, RUN)).toEqual({
      kind: "resumed_from",
      to: hashed("acme").spanId,
    });
  });

  it("makes the same operations again when its events come again", () => {
    const play = (test: Test) => {
      const ids = ["1", "2", "1", "2"];
      for (const [n, id] of ids.entries()) {
        if (!test.lifecycle.begin("acme", id)) continue;
        if (n % 2 === 0) test.lifecycle.startCall("acme", RUN, at(5), "x");
        else test.lifecycle.endRun("acme", RUN, at(6), { outcome: "complete" });
      }
      return test.driver.done;
    };
    const done = play(begin("open"));
    expect(done).toEqual(play(begin("open")));
    expect(done.filter((each) => each.startsWith("openRun"))).toHaveLength(2);
  });
});

describe("too many open runs", () => {
  it("are paid for by the tenant that opens runs under the ids of others", () => {
    const { lifecycle } = make({ openRuns: 10 });
    const id = (n: number) => `018f3c7a-0000-7000-8000-0000000001${String(n).padStart(2, "0")}`;
    for (let n = 0; n < 4; n++) lifecycle.startRun("acme", id(n), at(n), "bank");
    for (let n = 0; n < 50; n++) {
      lifecycle.startCall("beta", id(n), at(10 + n), "x");
    }
    expect(lifecycle.runs.openRuns).toBe(10);
    expect(lifecycle.counters.adjustments.evicted_runs).toBe(44);
    for (let n = 0; n < 4; n++) {
      expect(lifecycle.runs.find("acme", id(n))).toMatchObject({ open: true });
    }
  });
});

describe("names that hold the separator of others", () => {
  it("do not link a run to another tenant's thread", () => {
    const { driver, lifecycle } = make();
    lifecycle.parentContext = { threadId: "b\0th" };
    lifecycle.startRun("a", RUN, at(1), "first");
    lifecycle.endRun("a", RUN, at(2), { outcome: "interrupted" });
    lifecycle.parentContext = { threadId: "th" };
    lifecycle.startRun("a\0b", CHILD, at(3), "second");
    expect(driver.links).toEqual([]);
  });

  it("do not suppress another tenant's event", () => {
    const { lifecycle } = make();
    expect(lifecycle.begin("a", "b\0e1")).toBe(true);
    expect(lifecycle.begin("a\0b", "e1")).toBe(true);
    expect(lifecycle.begin("a", "b\0e1")).toBe(false);
  });
});
