import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { exchangeOf } from "../../../src/view/model/exchange.ts";
import { idleTimes } from "../../../src/view/model/idle.ts";
import { indentedJson, jsonOf } from "../../../src/view/model/json-text.ts";
import { frameworkSteps, outlineOf } from "../../../src/view/model/outline.ts";
import { timelineRows } from "../../../src/view/model/rows.ts";
import { runGraph } from "../../../src/view/model/run-graph.ts";
import { agentOf, axisEnd, runModel } from "../../../src/view/model/run-model.ts";
import { stepSummaries } from "../../../src/view/model/steps.ts";
import { timeAxis } from "../../../src/view/model/time-axis.ts";
import { IS_DEEP } from "../../support/runs.ts";
import { runDetail, runSpan, toolSpan, viewRow, viewSpan } from "../support/view-span.ts";

/** More than a call can have arguments, and more levels than the stack has. */
const MANY = IS_DEEP ? 200_000 : 130_000;

/** All that the page computes of a run. What takes the square of the spans does not end within a test. */
function modelOf(
  spans: readonly ViewSpan[],
  rows = Array.from({ length: 10 }, (_, at) => viewRow(at + 1)),
) {
  const model = runModel(runDetail(spans, { rows }));
  const end = axisEnd(model, undefined);
  const idle = idleTimes(model, end);
  return {
    ...model,
    exchange: exchangeOf(model),
    steps: stepSummaries(model.tree, agentOf, model.waits),
    graph: runGraph(model.tree),
    axis: timeAxis({ from: 0, to: end }, idle),
    shown: timelineRows(outlineOf(model.tree).roots, new Set()),
    short: timelineRows(
      outlineOf(model.tree, frameworkSteps(model.tree, model.failures)).roots,
      new Set(),
    ),
  };
}

const times = (at: number) => ({ from: at, to: at + 1 });

describe("the model of a run", () => {
  it("of many calls, each with a decision about it", { timeout: 120_000 }, () => {
    const call = (n: number) => ({
      "gen_ai.tool.call.id": `call ${n}`,
      "gen_ai.tool.name": "search",
    });
    const events = Array.from({ length: MANY }, (_, n) => ({
      name: "entelix.approval",
      time_ns: String(1_795_228_846_599_000_000n + BigInt(n * 2e6)),
      attributes: call(n),
    }));
    const calls = Array.from({ length: MANY }, (_, n) =>
      toolSpan(`tool ${n}`, "run", times(2 * n), {
        attributes: { ...call(n), "entelix.approval.wait_ms": 1 },
      }),
    );
    const model = modelOf([
      runSpan("run", undefined, { from: 0, to: 2 * MANY }, { events }),
      ...calls,
    ]);
    expect(model.exchange.items).toHaveLength(MANY);
    expect(model.lanes).toHaveLength(1);
    expect(model.lanes[0]?.waits).toHaveLength(MANY - 1);
    expect(model.lanes[0]?.waits.at(-1)).toMatchObject({ end: 2 * (MANY - 1) });
    expect(model.steps).toMatchObject([{ calls: MANY, agent: "planner" }]);
    expect(model.graph.edges).toMatchObject([{ kind: "calls", count: MANY }]);
    expect(model.shown).toHaveLength(MANY + 1);
    expect(model.axis.cut.length).toBeLessThan(MANY);
  });

  it("of a chain of many spans", { timeout: 120_000 }, () => {
    const chain = Array.from({ length: MANY }, (_, n) =>
      viewSpan(`${n}`, n === 0 ? "run" : `${n - 1}`, times(n), { failed: true }),
    );
    const model = modelOf([runSpan("run", undefined, { from: 0, to: MANY }), ...chain]);
    expect(model.steps).toHaveLength(MANY);
    expect(model.steps.at(-1)).toMatchObject({ agent: "planner", name: `${MANY - 1}` });
    expect(model.failed.size).toBe(MANY + 1);
    expect(model.failures.map(({ id }) => id)).toEqual([`${MANY - 1}`]);
    expect(model.shown).toHaveLength(MANY + 1);
  });

  it("of many runs in each other", { timeout: 120_000 }, () => {
    const runs = Array.from({ length: MANY }, (_, n) =>
      runSpan(`${n}`, n === 0 ? undefined : `${n - 1}`, times(n), {
        run_id: `run ${n}`,
        attributes: { "gen_ai.agent.name": `agent ${n % 7}` },
      }),
    );
    const model = modelOf(runs);
    expect(model.lanes).toHaveLength(MANY);
    expect(model.lanes.at(-1)).toMatchObject({ depth: MANY - 1 });
    expect(model.graph.parts).toHaveLength(7);
  });

  it("of many spans with one ID", { timeout: 120_000 }, () => {
    const attributes = { "gen_ai.tool.call.id": "call", "entelix.approval.outcome": "denied" };
    const event = { decision: "approved", tool_use_id: "call" };
    const model = modelOf(
      Array.from({ length: MANY }, (_, n) => toolSpan("same", "run", times(n), { attributes })),
      Array.from({ length: MANY }, (_, at) =>
        viewRow(at + 1, { kind: "entelix.tool_call_decided", event }),
      ),
    );
    expect(new Set([...model.decisions.values()].map(({ decision }) => decision))).toEqual(
      new Set(["denied"]),
    );
    expect(model.tree.byId.size).toBe(MANY);
    expect(model.tree.byId.has(`same~${MANY}`)).toBe(true);
  });

  it("of a ring of two spans, with many under one of them", { timeout: 120_000 }, () => {
    const under = Array.from({ length: MANY }, (_, n) => toolSpan(`${n}`, "a", times(n)));
    const ring = [viewSpan("a", "b", times(MANY)), viewSpan("b", "a", times(MANY + 1))];
    const { tree } = modelOf([...under, ...ring]);
    expect(tree.roots.map(({ id }) => id)).toEqual(["a"]);
    expect(tree.roots[0]?.children).toHaveLength(MANY + 1);
    expect(tree.nodes).toHaveLength(MANY + 2);
  });
});

describe("JSON that nests deeply", () => {
  it("is indented to a bounded depth", () => {
    const text = "[".repeat(100_000) + "]".repeat(100_000);
    expect(indentedJson(text)?.length).toBeLessThan(text.length * 300);
  });

  it("is a text of its own as a value", () => {
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    expect(jsonOf(deep)).toBe("(nested too deeply to be shown)");
    expect(jsonOf({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  });
});
