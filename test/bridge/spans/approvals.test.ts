import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("approvals", () => {
  it("mark the call that follows, and the run", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.approved("call_1"));
    test.at(2, run.toolStart("call_1"));
    test.at(3, run.toolStart("call_2"));
    test.at(4, run.toolComplete("call_1", "fetch", 2000));
    test.at(5, run.complete());
    const [first, second] = test.trees()[0]?.children ?? [];
    expect(first?.attributes["entelix.approval.outcome"]).toBe("approved");
    expect(second?.attributes).not.toHaveProperty("entelix.approval.outcome");
    const [span] = test.spans().filter((one) => one.name === "invoke_agent react");
    expect(span?.events).toMatchObject([
      {
        name: "entelix.approval",
        time: [1_777_464_001, 0],
        attributes: {
          "entelix.approval.outcome": "approved",
          "gen_ai.tool.name": "fetch",
          "gen_ai.tool.call.id": "call_1",
        },
      },
    ]);
  });

  it("of empty ids go to the next call of their tool", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.approved("", "b"));
    test.at(2, run.toolStart("", "a"));
    test.at(3, run.toolStart("", "b"));
    test.at(4, run.complete());
    const [a, b] = test.trees()[0]?.children ?? [];
    expect(a?.attributes).not.toHaveProperty("entelix.approval.outcome");
    expect(b?.attributes["entelix.approval.outcome"]).toBe("approved");
  });

  it("are for one call: the next with the same id is not approved", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.approved("call_1"));
    test.at(2, run.toolStart("call_1"));
    test.at(3, run.toolComplete("call_1"));
    test.at(4, run.toolStart("call_1"));
    test.at(5, run.complete());
    const [, second] = test.trees()[0]?.children ?? [];
    expect(second?.attributes).not.toHaveProperty("entelix.approval.outcome");
  });

  it("after the run's terminal are counted", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.complete());
    test.at(2, run.approved("call_1"));
    expect(test.diagnostics().ignored.after_end).toBe(1);
    expect(test.find("invoke_agent react").events).toEqual([]);
  });

  it("that no call ever takes are forgotten, oldest first, and counted", () => {
    const test = bench({ limits: { openCalls: 2 } });
    test.at(0, run.started());
    for (const id of ["a", "b", "c"]) test.at(1, run.approved(id));
    test.at(2, run.toolStart("a"));
    test.at(2, run.toolStart("c", "last"));
    test.at(3, run.complete());
    expect(test.find("execute_tool fetch").attributes).not.toHaveProperty(
      "entelix.approval.outcome",
    );
    expect(test.find("execute_tool last").attributes["entelix.approval.outcome"]).toBe("approved");
    expect(test.diagnostics().adjustments.forgotten_approvals).toBe(1);
  });
});

describe("a denied call", () => {
  it("is a zero-length span, Unset, without the reason", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.denied("call_1", "wire_transfer", "sentinel-reason"));
    test.at(2, run.complete());
    const call = test.find("execute_tool wire_transfer");
    expect(call).toMatchObject({
      span_id: callId("call_1"),
      status: "unset",
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:01Z",
      attributes: { "entelix.tool.outcome": "denied", "entelix.approval.outcome": "denied" },
    });
    expect(JSON.stringify(call)).not.toContain("sentinel-reason");
  });

  it("takes an occurrence", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.denied("call_1"));
    test.at(2, run.toolStart("call_1"));
    test.at(3, run.complete());
    expect(test.trees()[0]?.children.map((call) => call.span_id)).toEqual([
      callId("call_1"),
      callId("call_1", 2),
    ]);
  });
});
