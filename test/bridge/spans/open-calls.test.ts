import { describe, expect, it } from "vitest";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);

describe("open calls", () => {
  it("are closed just before their run, oldest first", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("a", "a"));
    test.at(2, run.toolStart("b", "b"));
    test.at(3, run.failed());
    expect(test.spans().map((span) => span.name)).toEqual([
      "execute_tool a",
      "execute_tool b",
      "invoke_agent react",
    ]);
    for (const call of test.trees()[0]?.children ?? []) {
      expect(call.end).toBe("2026-04-29T12:00:03Z");
      expect(call.status).toBe("unset");
      expect(call.attributes["entelix.tool.outcome"]).toBe("unfinished");
    }
  });

  it("beyond the limit close the oldest, and that is counted", () => {
    const test = bench({ limits: { openCalls: 2 } });
    test.at(0, run.started());
    for (const [at, id] of ["a", "b", "c"].entries()) test.at(1 + at, run.toolStart(id, id));
    expect(test.find("execute_tool a")).toMatchObject({
      end: "2026-04-29T12:00:03Z",
      attributes: { "entelix.tool.outcome": "unfinished" },
    });
    expect(test.diagnostics().adjustments.evicted_calls).toBe(1);
    test.at(5, run.toolComplete("b", "b"));
    test.at(6, run.toolComplete("c", "c"));
    expect(test.find("execute_tool b").end).toBe("2026-04-29T12:00:05Z");
    expect(test.find("execute_tool c").end).toBe("2026-04-29T12:00:06Z");
  });

  it("in great number each end with their own end, in any order", () => {
    const test = bench();
    test.at(0, run.started());
    const ids = Array.from({ length: 60 }, (_, n) => `call_${n}`);
    for (const id of ids) test.at(1, run.toolStart(id, id));
    for (const [n, id] of ids.toReversed().entries()) test.at(2 + n, run.toolComplete(id, id));
    test.at(100, run.complete());
    for (const [n, id] of ids.toReversed().entries()) {
      const end = test.find(`execute_tool ${id}`).end;
      expect(end).toBe(new Date((1_777_464_002 + n) * 1000).toISOString().replace(".000", ""));
    }
  });
});
