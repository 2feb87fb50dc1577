import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { FakeDriver } from "./fake-driver.ts";
import { type SignalKind, TestLifecycle } from "./test-lifecycle.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const SPAN = "8000000000000002";

function start() {
  const driver = new FakeDriver();
  const lifecycle = new TestLifecycle(driver);
  const say = (second: number, kind: SignalKind, runId = RUN) => {
    lifecycle.say({ tenantId: "acme", runId, at: [second, 0], ...kind });
  };
  return { driver, lifecycle, say };
}

const opens: SignalKind = { signal: "run_opens", agent: "a" };
const complete = { outcome: "complete" } as const;
const done: SignalKind = { signal: "run_closes", end: { outcome: "complete" } };

function modelSpan(ordinal: number): string {
  return RunIds.fromUuid(RUN)?.childSpanId("m", String(ordinal)) ?? "";
}

describe("a model call", () => {
  it("has an id by its ordinal in the run, and one at a time is open", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, { signal: "model_opens", model: "m-1" });
    say(3, { signal: "model_opens" });
    say(4, {
      signal: "model_closes",
      end: { outcome: "error", problem: { message: "overloaded" } },
    });
    say(5, { signal: "model_closes", end: complete });
    say(6, done);
    expect(modelSpan(1)).toBe("fb7cfff1168e333b");
    expect(driver.done).toEqual([
      `openRun ${SPAN}`,
      `openModelCall ${modelSpan(1)}`,
      `closeModelCall ${modelSpan(1)} unfinished`,
      `openModelCall ${modelSpan(2)}`,
      `closeModelCall ${modelSpan(2)} error`,
      `closeRun ${SPAN} complete`,
    ]);
  });

  it("is closed before its run", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, { signal: "model_opens" });
    say(3, done);
    expect(driver.done.slice(2)).toEqual([
      `closeModelCall ${modelSpan(1)} unfinished`,
      `closeRun ${SPAN} complete`,
    ]);
  });

  it("opens its run where that was never seen, and none that is over", () => {
    const { driver, lifecycle, say } = start();
    say(1, { signal: "model_opens" });
    say(2, done);
    say(3, { signal: "model_opens" });
    expect(driver.done).toEqual([
      `openRun ${SPAN}`,
      `openModelCall ${modelSpan(1)}`,
      `closeModelCall ${modelSpan(1)} unfinished`,
      `closeRun ${SPAN} complete`,
    ]);
    expect(lifecycle.counters.adjustments.unseen_starts).toBe(1);
    expect(lifecycle.counters.ignored.after_end).toBe(1);
  });
});

describe("an end that may be one", () => {
  const mayFail: SignalKind = {
    signal: "run_may_end",
    end: { outcome: "failed", kind: { type: "model_dispatch" }, message: "down" },
  };

  it("holds where nothing more is heard, with its own time", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, mayFail);
    lifecycle.runs.abandonAll("end_of_input", [9, 0]);
    expect(driver.done).toEqual([`openRun ${SPAN}`, `closeRun ${SPAN} failed`]);
    expect(lifecycle.runs.find("acme", RUN)?.outcome).toBe("failed");
  });

  it("was none where the run goes on", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, mayFail);
    say(3, { signal: "model_opens" });
    lifecycle.runs.abandonAll("end_of_input");
    expect(driver.done.at(-1)).toBe(`closeRun ${SPAN} abandoned`);
  });

  it("holds too where another run takes the run's place", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, mayFail);
    say(3, { signal: "run_closes", end: { outcome: "abandoned", reason: "superseded" } });
    expect(driver.done.at(-1)).toBe(`closeRun ${SPAN} failed`);
  });
});

describe("a pause that was given up", () => {
  const mayPause: SignalKind = { signal: "run_may_end", end: { outcome: "interrupted" } };
  const paused = { signal: "run_closes", end: { outcome: "interrupted" } } as const;
  const segment = RunIds.fromUuid(RUN)?.childSpanId("s", "2");

  it("goes on in the next segment with what comes later", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, mayPause);
    lifecycle.runs.tick([90_000, 0], "silence");
    say(90_001, { signal: "model_opens" });
    say(90_002, done);
    say(90_003, done);
    expect(driver.done).toEqual([
      `openRun ${SPAN}`,
      `closeRun ${SPAN} interrupted`,
      `openRun ${segment}`,
      `openModelCall ${modelSpan(1)}`,
      `closeModelCall ${modelSpan(1)} unfinished`,
      `closeRun ${segment} complete`,
    ]);
    expect(lifecycle.counters.ignored.second_terminal).toBe(1);
  });

  it("was no more of a pause than any other end that nobody told, unless what follows only trails", () => {
    const { driver, lifecycle, say } = start();
    const mayFail: SignalKind = {
      signal: "run_may_end",
      end: { outcome: "failed", kind: { type: "internal" }, message: "" },
    };
    say(1, opens);
    say(2, mayFail);
    lifecycle.runs.tick([90_000, 0], "silence");
    say(90_001, { signal: "call_opens", callId: "c", name: "t" });
    say(90_002, { ...mayFail, over: true });
    lifecycle.runs.tick([180_000, 0], "silence");
    say(180_001, { signal: "span_event", name: "n" });
    expect(driver.done.filter((line) => line.includes("Run"))).toEqual([
      `openRun ${SPAN}`,
      `closeRun ${SPAN} failed`,
      `openRun ${segment}`,
      `closeRun ${segment} failed`,
    ]);
    expect(lifecycle.counters.ignored.after_end).toBe(1);
  });

  it("is over where its source says so itself, then or before", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, mayPause);
    lifecycle.runs.tick([90_000, 0], "silence");
    say(2, paused);
    expect(driver.done).toEqual([`openRun ${SPAN}`, `closeRun ${SPAN} interrupted`]);
    expect(lifecycle.counters.ignored.second_terminal).toBe(1);
    say(2, { ...paused, supposed: true });
    expect(lifecycle.counters.ignored.second_terminal).toBe(1);
    expect(driver.done).toHaveLength(2);
    const told = start();
    told.say(1, opens);
    told.say(2, paused);
    told.say(3, done);
    expect(told.driver.done).toEqual([`openRun ${SPAN}`, `closeRun ${SPAN} interrupted`]);
  });
});

describe("an event that came too late", () => {
  it("is counted, and no more", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, done);
    say(3, { signal: "late", reason: "second_terminal" });
    say(4, { signal: "late", reason: "after_end" });
    expect(driver.done).toEqual([`openRun ${SPAN}`, `closeRun ${SPAN} complete`]);
    expect(lifecycle.counters.ignored).toMatchObject({ second_terminal: 1, after_end: 1 });
  });
});

describe("a decision about a call", () => {
  const call = { callId: "call_1", name: "write" };
  const callSpan = "b19560a0064a3c46";

  it("that is open is the open call's", () => {
    const { driver, lifecycle, say } = start();
    say(1, opens);
    say(2, { signal: "call_opens", ...call });
    say(3, { signal: "call_approved", ...call, waitMs: 900 });
    const open = lifecycle.runs.find("acme", RUN)?.calls.oldest;
    expect([open?.approved, open?.approvalWaitMs]).toEqual([true, 900]);
    expect(lifecycle.runs.find("acme", RUN)?.approvals).toBeUndefined();
    say(4, { signal: "call_denied", ...call });
    expect(driver.done.slice(1)).toEqual([
      `openCall ${callSpan}`,
      `addApprovalEvent ${SPAN}`,
      `closeCall ${callSpan} denied`,
    ]);
  });

  it("that never started makes a call of its own", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, { signal: "call_denied", ...call });
    expect(driver.done.slice(1)).toEqual([`openCall ${callSpan}`, `closeCall ${callSpan} denied`]);
  });

  it("that a pause waits for leaves its call paused, and the others unfinished", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, { signal: "call_opens", ...call });
    say(3, { signal: "call_opens", callId: "call_2", name: "write" });
    const kind = { type: "approval_pending", tool_use_id: "call_1" } as const;
    say(4, { signal: "run_closes", end: { outcome: "interrupted", kind } });
    expect(driver.done.filter((line) => line.startsWith("closeCall"))).toEqual([
      `closeCall ${callSpan} interrupted`,
      expect.stringMatching(/ unfinished$/),
    ]);
  });
});

describe("span events and attributes", () => {
  it("stand on what they are about, and on the run where that is not open", () => {
    const { driver, say } = start();
    say(1, opens);
    say(2, { signal: "span_event", name: "n", on: "model" });
    say(3, { signal: "model_opens" });
    say(4, { signal: "span_event", name: "n", on: "model" });
    say(5, { signal: "span_event", name: "n", on: { callId: "call_1" } });
    say(6, { signal: "attributes", attributes: { "entelix.turn": 2 } });
    expect(driver.done.filter((line) => /^(addEvent|addAttributes)/.test(line))).toEqual([
      `addEvent ${SPAN} n`,
      `addEvent ${modelSpan(1)} n`,
      `addEvent ${SPAN} n`,
      `addAttributes ${SPAN} {"entelix.turn":2}`,
    ]);
  });
});

describe("any signals in any order", () => {
  const callId = fc.constantFrom("", "call_1", "call_2");
  const name = fc.constantFrom("read", "write");
  const end = fc.constantFrom<SignalKind>(
    done,
    { signal: "run_closes", end: { outcome: "refused" } },
    { signal: "run_closes", end: { outcome: "interrupted" } },
    { signal: "run_closes", end: { outcome: "abandoned", reason: "superseded" } },
    { signal: "run_may_end", end: { outcome: "interrupted" } },
  );
  const kind: fc.Arbitrary<SignalKind> = fc.oneof(
    fc.constant(opens),
    end,
    fc.record({ signal: fc.constant("call_opens" as const), callId, name }),
    fc.record({
      signal: fc.constant("call_closes" as const),
      callId,
      name,
      durationMs: fc.nat(9),
      end: fc.constant({ ...complete, content: undefined }),
    }),
    fc.record({ signal: fc.constant("call_approved" as const), callId, name }),
    fc.record({ signal: fc.constant("call_denied" as const), callId, name }),
    fc.constantFrom<SignalKind>(
      { signal: "model_opens" },
      { signal: "model_closes", end: complete },
    ),
    fc.constantFrom<SignalKind>({ signal: "span_event", name: "n", on: "model" }),
  );
  const run = fc.constantFrom(RUN, "018f3c7a-0000-7000-8000-000000000003", "r1");

  it("end each span that they open once, and none that they do not", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(run, kind, fc.nat(20)), { maxLength: 60 }), (script) => {
        const { driver, lifecycle, say } = start();
        for (const [runId, what, second] of script) say(second, what, runId);
        lifecycle.runs.abandonAll("end_of_input");
        const opened = driver.done.filter((line) => line.startsWith("open"));
        const closed = driver.done.filter((line) => line.startsWith("close"));
        const span = (line: string) => line.split(" ")[1];
        expect(closed.map(span).sort()).toEqual(opened.map(span).sort());
        expect(new Set(opened).size).toBe(opened.length);
        expect(lifecycle.runs.openRuns).toBe(0);
      }),
    );
  });
});
