import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("repeated tool-use ids", () => {
  it("are numbered, and the repeats say so", () => {
    const test = bench();
    test.at(0, run.started());
    for (let turn = 0; turn < 3; turn++) {
      test.at(1 + turn, run.toolStart("search#0"));
      test.at(1.5 + turn, run.toolComplete("search#0", "fetch", 500));
    }
    test.at(9, run.complete());
    const calls = test.trees()[0]?.children ?? [];
    expect(calls.map((call) => call.span_id)).toEqual(
      [1, 2, 3].map((occurrence) => callId("search#0", occurrence)),
    );
    expect(calls.map((call) => call.attributes["entelix.tool.occurrence"])).toEqual([
      undefined,
      2,
      3,
    ]);
  });

  it("go on counting in the next segment, so that no id comes twice in a trace", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolComplete("call_1"));
    test.at(3, run.interrupted());
    test.at(10, run.started());
    test.at(11, run.toolStart("call_1"));
    test.at(12, run.toolComplete("call_1"));
    test.at(13, run.complete());
    const [first, second] = test.trees();
    expect(first?.children.map((call) => call.span_id)).toEqual([callId("call_1")]);
    expect(second?.children.map((call) => call.span_id)).toEqual([callId("call_1", 2)]);
    expect(second?.span_id).toBe("f459c5ad74d96d44");
  });

  it("end the oldest open start first", () => {
    const test = bench();
    test.identified(0, run.started());
    test.identified(1, run.toolStart("x"));
    test.identified(2, run.toolStart("x"));
    test.identified(3, run.toolComplete("x"));
    test.identified(4, run.toolComplete("x"));
    test.identified(5, run.complete());
    expect(test.trees()[0]?.children.map((call) => [call.start, call.end])).toEqual([
      ["2026-04-29T12:00:01Z", "2026-04-29T12:00:03Z"],
      ["2026-04-29T12:00:02Z", "2026-04-29T12:00:04Z"],
    ]);
  });

  it("with empty ids match by tool, oldest first", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("", "a"));
    test.at(2, run.toolStart("", "b"));
    test.at(3, run.toolStart("", "a"));
    test.at(4, run.toolComplete("", "b"));
    test.at(5, run.toolComplete("", "a"));
    test.at(6, run.complete());
    expect(test.trees()[0]?.children.map((call) => [call.span_id, call.span, call.end])).toEqual([
      [callId("", 1), "execute_tool a", "2026-04-29T12:00:05Z"],
      [callId("", 2), "execute_tool b", "2026-04-29T12:00:04Z"],
      [callId("", 3), "execute_tool a", "2026-04-29T12:00:06Z"],
    ]);
  });
});
