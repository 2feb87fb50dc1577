import { describe, expect, it } from "vitest";
import { bench, second } from "../../support/run-events.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const OUTER = { ...RUN, tool_use_id: "outer", tool: "research" };
const INNER = { ...RUN, tool_use_id: "inner", tool: "find_order" };
const IN_OUTER = { details: { tool_use_id: "outer" } };

describe("a tool call that names the call that makes it", () => {
  it.each([
    ["stands below it", true],
    ["stands below it, too, where its start was lost", false],
  ])("%s", async (_, isStarted) => {
    const { find, sink } = bench();
    const at = (n: number) => ({ timestamp: second(n), event_id: `e${n}` });
    await sink.send({ type: "started", ...RUN, agent: "support" }, at(0));
    await sink.send({ type: "tool_start", ...OUTER, input: null }, at(1));
    if (isStarted) {
      await sink.send({ type: "tool_start", ...INNER, input: null }, { ...at(2), ...IN_OUTER });
    }
    const end = { output: null, duration_ms: 1_000 };
    await sink.send({ type: "tool_complete", ...INNER, ...end }, { ...at(3), ...IN_OUTER });
    await sink.send({ type: "tool_complete", ...OUTER, ...end }, at(4));
    await sink.send({ type: "complete", ...RUN, state: null }, at(5));
    expect(find("execute_tool find_order").parent).toBe(find("execute_tool research").span_id);
  });

  it("stands below its run where that call is not open", async () => {
    const { find, sink } = bench();
    const at = (n: number) => ({ timestamp: second(n), event_id: `e${n}` });
    await sink.send({ type: "started", ...RUN, agent: "support" }, at(0));
    await sink.send({ type: "tool_start", ...INNER, input: null }, { ...at(1), ...IN_OUTER });
    await sink.send({ type: "tool_complete", ...INNER, output: null, duration_ms: 1 }, at(2));
    await sink.send({ type: "complete", ...RUN, state: null }, at(3));
    expect(find("execute_tool find_order").parent).toBe(find("invoke_agent support").span_id);
  });
});
