import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("with event ids", () => {
  it("a second event with the id of another is a duplicate, whatever it says", () => {
    const test = bench();
    test.at(0, run.started(), { event_id: "a" });
    test.at(1, run.toolStart("call_1"), { event_id: "b" });
    test.at(2, run.toolComplete("call_1"), { event_id: "b" });
    test.at(3, run.failed(), { event_id: "b" });
    test.at(4, run.complete(), { event_id: "c" });
    expect(test.find("execute_tool fetch").end).toBe("2026-04-29T12:00:04Z");
    expect(test.diagnostics().ignored.duplicate).toBe(2);
  });

  it("equal looks don't make a duplicate: a start of an open id is the next occurrence", () => {
    const test = bench();
    test.identified(0, run.started());
    test.identified(1, run.toolStart("call_1"));
    test.identified(1, run.toolStart("call_1"));
    test.identified(2, run.toolComplete("call_1"));
    test.identified(3, run.toolComplete("call_1"));
    test.identified(3, run.toolComplete("call_1"));
    test.identified(4, run.denied("call_1"));
    test.identified(4, run.denied("call_1"));
    test.identified(5, run.approved("call_9"));
    test.identified(5, run.approved("call_9"));
    test.identified(6, run.complete());
    const calls = test.trees()[0]?.children ?? [];
    expect(calls.map((call) => call.span_id).sort()).toEqual(
      [1, 2, 3, 4, 5].map((occurrence) => callId("call_1", occurrence)).sort(),
    );
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      "entelix.run.tool_calls": 5,
      "entelix.run.denied_calls": 2,
      "entelix.run.approved_calls": 2,
    });
    expect(test.diagnostics().ignored.duplicate).toBe(0);
  });

  it("an id of one tenant can't suppress another tenant's event", () => {
    const test = bench();
    const other = new RunEvents("018f3c7a-0000-7000-8000-000000000003", "globex");
    test.at(0, run.started(), { event_id: "same" });
    test.at(0, other.started(), { event_id: "same" });
    test.at(1, run.complete(), { event_id: "same-2" });
    test.at(1, other.complete(), { event_id: "same-2" });
    expect(test.spans()).toHaveLength(2);
  });

  it("an id that is empty, or no text, is none", async () => {
    const test = bench();
    test.at(0, run.started(), { event_id: "" });
    test.at(1, run.toolStart("call_1"), { event_id: "" });
    // What programs without types send for "none".
    const untyped: object = { event_id: null };
    test.at(2, run.toolComplete("call_1"), untyped);
    test.at(3, run.complete(), untyped);
    expect(test.find("execute_tool fetch").end).toBe("2026-04-29T12:00:02Z");
    expect(test.diagnostics().ignored.duplicate).toBe(0);
  });

  it("are forgotten when there are too many, and that is counted", () => {
    const test = bench({ limits: { eventIds: 2 } });
    test.at(0, run.started(), { event_id: "0" });
    for (let n = 1; n <= 6; n++) test.at(n, run.approved(`call_${n}`), { event_id: String(n) });
    test.at(7, run.approved("call_1"), { event_id: "1" });
    test.at(7, run.approved("call_6"), { event_id: "6" });
    const { adjustments, ignored } = test.diagnostics();
    expect(ignored.duplicate).toBe(1);
    expect(adjustments.forgotten_event_ids).toBe(6);
  });
});
