import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const NEXT = "018f3c7a-0000-7000-8000-000000000009";
const run = new RunEvents(RUN);
const next = new RunEvents(NEXT);
const DAY = 24 * 3600;

describe("an interrupted run id that is started again", () => {
  it("is its next segment, linked, in the same trace", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.interrupted());
    test.at(60, run.started());
    test.at(61, run.complete());
    const [first, second] = test.trees();
    expect(first).toMatchObject({
      span_id: "8000000000000002",
      end: "2026-04-29T12:00:01Z",
      attributes: { "entelix.run.outcome": "interrupted" },
    });
    expect(second).toMatchObject({
      span_id: "f459c5ad74d96d44",
      trace: "018f3c7a000070008000000000000002",
      parent: undefined,
      start: "2026-04-29T12:01:00Z",
      end: "2026-04-29T12:01:01Z",
      links: ["8000000000000002"],
      linkKinds: ["previous_segment"],
      attributes: { "entelix.run.outcome": "complete", "entelix.run.segment": 2 },
    });
    expect(test.diagnostics().runsStarted).toBe(1);
  });

  it("is a duplicate when its time is not after the segment's start", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.interrupted());
    test.at(0, run.started());
    expect(test.spans()).toHaveLength(1);
    expect(test.diagnostics().ignored.duplicate).toBe(1);
  });

  it("goes on through as many segments as there are pauses", () => {
    const test = bench();
    for (let n = 0; n < 4; n++) {
      test.at(n * 10, run.started());
      test.at(n * 10 + 1, run.interrupted());
    }
    const ids = RunIds.fromUuid(RUN);
    expect(test.trees().map((span) => span.span_id)).toEqual([
      ids?.spanId,
      ids?.childSpanId("s", "2"),
      ids?.childSpanId("s", "3"),
      ids?.childSpanId("s", "4"),
    ]);
  });

  it("stays under its parent", () => {
    const test = bench();
    test.at(0, next.started("top"));
    test.at(1, run.started("child", NEXT));
    test.at(2, run.interrupted());
    test.at(3, run.started("child", NEXT));
    test.at(4, run.complete());
    test.at(5, next.complete());
    expect(test.find("invoke_agent top").children.map((child) => child.parent)).toEqual([
      "8000000000000009",
      "8000000000000009",
    ]);
  });
});

describe("a resumed run", () => {
  it("with evidence in its envelope is linked and says whom it continues", () => {
    const test = bench();
    test.at(0, run.started(), { thread_id: "th-1" });
    test.at(1, run.interrupted(), { thread_id: "th-1" });
    test.at(2, next.started(), { thread_id: "th-1", resumed_from_run_id: RUN.toUpperCase() });
    test.at(3, next.complete());
    expect(test.find("invoke_agent react", "entelix.run_id", NEXT)).toMatchObject({
      trace: NEXT.replaceAll("-", ""),
      links: ["8000000000000002"],
      linkKinds: ["resumed_from"],
      attributes: { "entelix.run.resumed_from": RUN, "gen_ai.conversation.id": "th-1" },
    });
  });

  it("of a run that is not known is linked by derivation", () => {
    const test = bench();
    test.at(2, next.started(), { resumed_from_run_id: RUN });
    test.at(3, next.complete());
    const [span] = test.spans();
    expect(span?.links.map((link) => link.context)).toMatchObject([
      { traceId: "018f3c7a000070008000000000000002", spanId: "8000000000000002" },
    ]);
  });

  it("names itself in vain", () => {
    const test = bench();
    test.at(2, run.started(), { resumed_from_run_id: RUN });
    test.at(3, run.complete());
    const span = test.find("invoke_agent react");
    expect(span.links).toEqual([]);
    expect(span.attributes).not.toHaveProperty("entelix.run.resumed_from");
  });

  it("with only the thread known is linked to its last interrupted run, without a claim", () => {
    const test = bench();
    test.at(0, run.started(), { thread_id: "th-1" });
    test.at(1, run.interrupted(), { thread_id: "th-1" });
    test.at(2, next.started(), { thread_id: "th-1" });
    test.at(3, next.complete());
    const span = test.find("invoke_agent react", "entelix.run_id", NEXT);
    expect([span.links, span.linkKinds]).toEqual([["8000000000000002"], ["after_interrupted"]]);
    expect(span.attributes).not.toHaveProperty("entelix.run.resumed_from");
  });

  it("is the first that follows on its thread; not one of another thread, tenant or none", () => {
    const test = bench();
    const others = [
      new RunEvents("018f3c7a-0000-7000-8000-00000000000a"),
      new RunEvents("018f3c7a-0000-7000-8000-00000000000b", "globex"),
      new RunEvents("018f3c7a-0000-7000-8000-00000000000c"),
      new RunEvents("018f3c7a-0000-7000-8000-00000000000d"),
      new RunEvents("018f3c7a-0000-7000-8000-00000000000e"),
    ];
    const threads = ["th-2", "th-1", undefined, "th-1", "th-1"];
    test.at(0, run.started(), { thread_id: "th-1" });
    test.at(1, run.interrupted());
    for (const [n, other] of others.entries()) {
      const thread_id = threads[n];
      test.at(2 + n, other.started(), thread_id === undefined ? {} : { thread_id });
      test.at(3 + n, other.complete());
    }
    expect(test.trees().map((span) => span.linkKinds)).toEqual([
      [],
      [],
      [],
      [],
      ["after_interrupted"],
      [],
    ]);
  });

  it("that is the same run id takes the pause of its thread with it", () => {
    const test = bench();
    test.at(0, run.started(), { thread_id: "th-1" });
    test.at(1, run.interrupted());
    test.at(2, run.started());
    test.at(3, run.complete());
    test.at(4, next.started("later"), { thread_id: "th-1" });
    test.at(5, next.complete());
    expect(test.find("invoke_agent later").links).toEqual([]);
  });

  it("is no child run: a sub-agent on the thread neither links nor takes the pause", () => {
    const test = bench();
    const child = new RunEvents("018f3c7a-0000-7000-8000-00000000000a");
    const top = new RunEvents("018f3c7a-0000-7000-8000-00000000000b");
    test.at(0, top.started("top"), { thread_id: "th-2" });
    test.at(0, run.started(), { thread_id: "th-1" });
    test.at(1, run.interrupted());
    test.at(2, child.started("child", top.run_id), { thread_id: "th-1" });
    test.at(3, child.complete());
    test.at(4, next.started("next"), { thread_id: "th-1" });
    test.at(5, next.complete());
    test.at(6, top.complete());
    expect(test.find("invoke_agent child").links).toEqual([]);
    expect(test.find("invoke_agent next").linkKinds).toEqual(["after_interrupted"]);
  });

  it("is linked once, though its late start repeats the evidence", () => {
    const test = bench();
    test.at(2, next.toolStart("call_1"), { resumed_from_run_id: RUN });
    test.at(1, next.started(), { resumed_from_run_id: RUN });
    test.at(3, next.complete());
    expect(test.find("invoke_agent react").links).toEqual(["8000000000000002"]);
  });
});

describe("a run that was given up", () => {
  it("goes on in its next segment with the terminal, which has the true outcome", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(DAY + 1, run.failed());
    const [first, second] = test.trees();
    expect(first).toMatchObject({
      status: "unset",
      end: "2026-04-29T12:00:00Z",
      attributes: {
        "entelix.run.outcome": "abandoned",
        "entelix.run.abandoned_reason": "age",
      },
    });
    expect(second).toMatchObject({
      status: "error",
      span_id: "f459c5ad74d96d44",
      links: ["8000000000000002"],
      attributes: { "entelix.run.outcome": "failed", "entelix.run.segment": 2 },
    });
    expect(test.diagnostics().ignored.second_terminal).toBe(0);
    expect(test.diagnostics().adjustments.aged_runs).toBe(1);
  });

  it("goes on with a tool event, an approval or a denial too", () => {
    for (const event of [
      run.toolStart("call_1"),
      run.toolComplete("call_1"),
      run.approved("call_1"),
      run.denied("call_1"),
    ]) {
      const test = bench();
      test.at(0, run.started());
      test.at(DAY + 10, event);
      test.at(DAY + 20, run.complete());
      const [first, second] = test.trees();
      expect(first?.attributes["entelix.run.outcome"]).toBe("abandoned");
      expect(second?.attributes).toMatchObject({
        "entelix.run.outcome": "complete",
        "entelix.run.segment": 2,
      });
      expect(second?.end).toBe("2026-04-30T12:00:20Z");
    }
  });

  it("has the late end of a call that was open as the next occurrence, with its true times", () => {
    const test = bench();
    const ids = RunIds.fromUuid(RUN);
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(DAY + 10, run.toolComplete("call_1", "fetch", (DAY + 9) * 1000));
    test.at(DAY + 11, run.complete());
    const [first, second] = test.trees();
    expect(first?.children[0]).toMatchObject({
      span_id: ids?.childSpanId("t", "call_1"),
      end: "2026-04-29T12:00:01Z",
      attributes: { "entelix.tool.outcome": "unfinished" },
    });
    expect(second?.children[0]).toMatchObject({
      span_id: ids?.childSpanId("t", "call_1", 2),
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-30T12:00:10Z",
      attributes: { "entelix.tool.outcome": "complete" },
    });
  });

  it("goes on with its start of a later time; an earlier one is a duplicate", () => {
    const test = bench();
    test.at(5, run.started());
    test.at(DAY + 100, next.started());
    test.at(5, run.started());
    expect(test.diagnostics().ignored.duplicate).toBe(1);
    test.at(DAY + 101, run.started());
    test.at(DAY + 102, run.complete());
    expect(test.trees().map((span) => span.attributes["entelix.run.segment"])).toEqual([
      undefined,
      2,
    ]);
  });

  it("is not brought back by an approval that was there before", async () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.approved("call_1"));
    test.at(DAY + 100, next.started());
    test.at(1, run.approved("call_1"));
    expect(test.diagnostics().ignored.duplicate).toBe(1);
    await test.sink.shutdown();
    const own = test
      .spans()
      .filter(({ attributes }) => attributes["entelix.run_id"] === run.run_id);
    expect(own.map(({ name }) => name)).toEqual(["invoke_agent react"]);
  });
});
