import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("a tool end after the run's terminal", () => {
  it("is a child span when its start was never seen", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(3, run.complete());
    test.at(4, run.toolComplete("late", "fetch", 2000));
    const call = test.find("execute_tool fetch");
    expect(call).toMatchObject({
      parent: "8000000000000002",
      trace: "018f3c7a000070008000000000000002",
      start: "2026-04-29T12:00:02Z",
      end: "2026-04-29T12:00:04Z",
      span_id: callId("late"),
    });
    expect(test.diagnostics().ignored.after_end).toBe(0);
  });

  it("is counted when its start was seen: the span ended with its run", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(3, run.complete());
    test.at(4, run.toolComplete("call_1", "fetch", 3000));
    const call = test.find("execute_tool fetch");
    expect([call.end, call.attributes["entelix.tool.outcome"]]).toEqual([
      "2026-04-29T12:00:03Z",
      "unfinished",
    ]);
    expect(test.diagnostics().ignored.after_end).toBe(1);
  });

  it("is a child span even when its start came late too", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(3, run.complete());
    test.at(1, run.toolStart("late"));
    test.at(2, run.toolComplete("late"));
    expect(test.find("execute_tool fetch")).toMatchObject({
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:02Z",
    });
    expect(test.diagnostics().ignored.after_end).toBe(1);
  });

  it("makes one span, however often it comes", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(3, run.complete());
    for (let n = 0; n < 3; n++) test.at(4, run.toolComplete("late"));
    expect(test.spans()).toHaveLength(2);
    const { ignored } = test.diagnostics();
    expect(ignored.after_end + ignored.duplicate).toBe(2);
  });
});

describe("a tool end before its start", () => {
  it("is moved to the start, and counted", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(2, run.toolStart("call_1"));
    test.at(1, run.toolComplete("call_1"));
    test.at(3, run.complete());
    const call = test.find("execute_tool fetch");
    expect([call.start, call.end]).toEqual(["2026-04-29T12:00:02Z", "2026-04-29T12:00:02Z"]);
    expect(test.diagnostics().adjustments.clamped).toBe(1);
  });
});
