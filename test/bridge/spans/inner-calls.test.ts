import { describe, expect, it } from "vitest";
import { bench, flat, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000011");
const inside = { details: { tool_use_id: "outer" } };

function called() {
  const test = bench();
  test.at(0, run.started());
  test.at(1, run.toolStart("outer", "summarise"));
  test.at(2, run.toolStart("other", "look"));
  return test;
}

describe("a call that the code of a tool call makes", () => {
  it("stands below that call, and is not the agent's own", () => {
    const test = called();
    test.at(3, run.toolStart("inner", "fetch"), inside);
    test.at(4, run.modelStart("m1"), inside);
    test.at(5, run.modelComplete("m1"), inside);
    test.at(6, run.toolComplete("inner", "fetch"), inside);
    test.at(7, run.modelError("m2", { duration_ms: 1000 }), inside);
    test.at(8, run.complete());
    const outer = test.find("execute_tool summarise");
    expect(test.find("execute_tool fetch").parent).toBe(outer.span_id);
    const chats = flat(test.trees()).filter(({ span }) => span.startsWith("chat"));
    expect(chats.map(({ parent }) => parent)).toEqual([outer.span_id, outer.span_id]);
    const top = flat(test.trees()).find(({ span }) => span.startsWith("invoke_agent"));
    expect(top?.attributes["entelix.run.tool_calls"]).toBe(2);
  });

  it("stands below that call, and is not the agent's own, also if that call has ended", () => {
    const test = called();
    test.at(3, run.toolComplete("outer", "summarise"));
    test.at(4, run.toolStart("inner", "fetch"), inside);
    test.at(5, run.modelStart("m1"), inside);
    test.at(6, run.modelComplete("m1"), inside);
    test.at(7, run.toolComplete("inner", "fetch"), inside);
    test.at(8, run.complete());
    const outer = test.find("execute_tool summarise");
    expect(test.find("execute_tool fetch").parent).toBe(outer.span_id);
    expect(test.find("chat small-1").parent).toBe(outer.span_id);
    const top = flat(test.trees()).find(({ span }) => span.startsWith("invoke_agent"));
    expect(top?.attributes["entelix.run.tool_calls"]).toBe(2);
  });

  it("stands below the run, and counts, if it names itself and an earlier call of its ID has ended", () => {
    const test = called();
    test.at(3, run.toolComplete("outer", "summarise"));
    test.at(4, run.toolStart("outer", "fetch"), inside);
    test.at(5, run.toolComplete("outer", "fetch"), inside);
    test.at(6, run.complete());
    const top = flat(test.trees()).find(({ span }) => span.startsWith("invoke_agent"));
    expect(test.find("execute_tool fetch").parent).toBe(top?.span_id);
    expect(top?.attributes["entelix.run.tool_calls"]).toBe(3);
  });

  it("stands below the run, and counts, if the call that it names is unknown", () => {
    const test = called();
    const gone = { details: { tool_use_id: "gone" } };
    test.at(3, run.toolStart("inner", "fetch"), gone);
    test.at(4, run.modelStart("m1"), gone);
    test.at(5, run.complete());
    const top = flat(test.trees()).find(({ span }) => span.startsWith("invoke_agent"));
    expect(test.find("execute_tool fetch").parent).toBe(top?.span_id);
    expect(top?.attributes["entelix.run.tool_calls"]).toBe(3);
  });
});
