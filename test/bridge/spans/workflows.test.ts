import { describe, expect, it } from "vitest";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const flow = new RunEvents(RUN);
const agent = new RunEvents(CHILD);
const details = { operation: "invoke_workflow" } as const;

const WORKFLOW = {
  "gen_ai.operation.name": "invoke_workflow",
  "gen_ai.workflow.name": "support",
};

describe("a run that is a workflow", () => {
  it("is `invoke_workflow {name}` above its agents", () => {
    const test = bench();
    test.at(0, flow.started("support"), { details });
    test.at(1, agent.started("triage", RUN));
    test.at(2, agent.complete());
    test.at(3, flow.complete());
    const [root] = test.trees();
    expect(root).toMatchObject({ span: "invoke_workflow support", attributes: WORKFLOW });
    expect(root?.children[0]?.span).toBe("invoke_agent triage");
    expect(root?.children[0]?.attributes).not.toHaveProperty("gen_ai.workflow.name");
  });

  it("gets its name from a start that comes late, and keeps it in its next segment", () => {
    const test = bench();
    test.at(0, flow.toolStart("t1"));
    test.at(1, flow.started("support"), { details });
    test.at(2, flow.interrupted());
    test.at(3, flow.toolStart("t2"));
    test.at(4, flow.started("support"), { details });
    test.at(5, flow.complete());
    const names = test.trees().map(({ attributes, span }) => [span, attributes]);
    expect(names).toEqual([
      ["invoke_workflow support", expect.objectContaining(WORKFLOW)],
      ["invoke_workflow support", expect.objectContaining(WORKFLOW)],
    ]);
  });

  it("is an agent if the sender gives another operation", () => {
    const test = bench();
    test.at(0, flow.started("support"), { details: Object({ operation: "plan" }) });
    test.at(1, flow.complete());
    expect(test.trees()[0]?.span).toBe("invoke_agent support");
  });
});
