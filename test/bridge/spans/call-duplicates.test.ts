import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("duplicates of tool events without event ids", () => {
  it("are starts equal in id, tool and version to one that is open", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolComplete("call_1"));
    test.at(3, run.complete());
    expect(test.spans()).toHaveLength(2);
    expect(test.diagnostics().ignored.duplicate).toBe(1);
  });

  it("are not starts that differ in tool or version, nor starts after the end", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1", "a"));
    test.at(1, run.toolStart("call_1", "b"));
    test.at(1, { ...run.toolStart("call_1", "a"), tool_version: "2" });
    test.at(2, run.toolComplete("call_1", "a"));
    test.at(3, run.toolStart("call_1", "b"));
    test.at(4, run.complete());
    expect(test.spans().map((span) => span.name)).toHaveLength(4);
    expect(test.diagnostics().ignored.duplicate).toBe(1);
  });

  it("are ends equal in id, time and duration to the last one", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolComplete("call_1", "fetch", 1000));
    test.at(2, run.toolComplete("call_1", "fetch", 1000));
    expect(test.diagnostics().ignored.duplicate).toBe(1);
    test.at(2, run.toolComplete("call_1", "fetch", 999));
    test.at(2.5, run.toolComplete("call_1", "fetch", 1000));
    test.at(3, run.complete());
    const calls = test.trees()[0]?.children.map((call) => [call.span_id, call.start, call.end]);
    expect(calls).toEqual([
      [callId("call_1"), "2026-04-29T12:00:01Z", "2026-04-29T12:00:02Z"],
      [callId("call_1", 2), "2026-04-29T12:00:01.001Z", "2026-04-29T12:00:02Z"],
      [callId("call_1", 3), "2026-04-29T12:00:01.500Z", "2026-04-29T12:00:02.500Z"],
    ]);
    expect(test.diagnostics().ignored.duplicate).toBe(1);
  });

  it("are ends equal to the last one, though the id has started again since", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("search#0"));
    test.at(2, run.toolComplete("search#0"));
    test.at(3, run.toolStart("search#0"));
    test.at(2, run.toolComplete("search#0"));
    test.at(5, run.toolComplete("search#0", "fetch", 2000));
    test.at(6, run.complete());
    expect(test.trees()[0]?.children.map((call) => [call.start, call.end])).toEqual([
      ["2026-04-29T12:00:01Z", "2026-04-29T12:00:02Z"],
      ["2026-04-29T12:00:03Z", "2026-04-29T12:00:05Z"],
    ]);
    expect(test.diagnostics()).toMatchObject({
      ignored: { duplicate: 1 },
      adjustments: { clamped: 0 },
    });
  });

  it("are ends equal to the last one, though another call of the id is still open", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("x", "a"));
    test.at(2, run.toolStart("x", "b"));
    test.at(3, run.toolComplete("x", "a", 2000));
    test.at(3, run.toolComplete("x", "a", 2000));
    test.at(9, run.complete());
    expect(test.find("execute_tool b").attributes["entelix.tool.outcome"]).toBe("unfinished");
    expect(test.diagnostics().ignored.duplicate).toBe(1);
  });

  it("are approvals and denials of the same call at the same time", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.approved("call_1"));
    test.at(1, run.approved("call_1"));
    test.at(2, run.denied("call_2"));
    test.at(2, run.denied("call_2"));
    test.at(3, run.denied("call_2"));
    test.at(4, run.complete());
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      "entelix.run.approved_calls": 1,
      "entelix.run.denied_calls": 2,
    });
    expect(test.find("invoke_agent react").events).toEqual(["entelix.approval"]);
    expect(test.diagnostics().ignored.duplicate).toBe(2);
  });

  it("are never events with an empty id", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart(""));
    test.at(1, run.toolStart(""));
    test.at(2, run.toolComplete(""));
    test.at(2, run.toolComplete(""));
    test.at(3, run.denied(""));
    test.at(3, run.denied(""));
    test.at(4, run.approved(""));
    test.at(4, run.approved(""));
    test.at(5, run.complete());
    expect(test.spans()).toHaveLength(5);
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      "entelix.run.approved_calls": 2,
      "entelix.run.denied_calls": 2,
    });
    expect(test.diagnostics().ignored.duplicate).toBe(0);
  });
});
