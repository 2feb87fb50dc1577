import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentOf } from "../../../src/view/model/run-model.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { stepSummaries } from "../../../src/view/model/steps.ts";
import { addCosts, usageUnder } from "../../../src/view/model/usage.ts";
import { waitsOf } from "../../../src/view/model/waits.ts";
import { runs } from "../../support/runs.ts";
import { runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const model = (id: string, parent: string, input: number, cost?: string) =>
  viewSpan(
    id,
    parent,
    { from: 10, to: 20 },
    {
      kind: "model",
      name: "chat m",
      attributes: {
        "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.output_tokens": "5",
        ...(cost === undefined ? {} : { "entelix.model.cost": cost }),
      },
    },
  );

const tree = spanTree([
  runSpan(
    "run",
    undefined,
    { from: 0, to: 90 },
    { attributes: { "gen_ai.usage.input_tokens": 999 } },
  ),
  model("m1", "run", 100, "0.001"),
  toolSpan("dispatch", "run", { from: 30, to: 80 }),
  runSpan(
    "child",
    "dispatch",
    { from: 31, to: 70 },
    { attributes: { "gen_ai.agent.name": "helper" } },
  ),
  model("m2", "child", 20, "0.0005"),
  model("m3", "child", 1),
  toolSpan(
    "wait",
    "run",
    { from: 81, to: 85 },
    { failed: true, attributes: { "entelix.approval.wait_ms": 40 } },
  ),
]);

describe("tokens and cost", () => {
  it("of a span are those of the model calls under it", () => {
    const under = [...usageUnder(tree)].map(([{ id }, usage]) => [id, usage]);
    expect(Object.fromEntries(under)).toEqual({
      run: { input: 121, output: 15, cost: "0.0015" },
      m1: { input: 100, output: 5, cost: "0.001" },
      dispatch: { input: 21, output: 10, cost: "0.0005" },
      child: { input: 21, output: 10, cost: "0.0005" },
      m2: { input: 20, output: 5, cost: "0.0005" },
      m3: { input: 1, output: 5 },
    });
  });

  it("of a run without spans of model calls are what the run says", () => {
    const attributes = {
      "gen_ai.usage.input_tokens": 360,
      "entelix.run.output_tokens": 7,
      "entelix.agent.usage.cost": "0.0063",
    };
    const alone = spanTree([runSpan("run", undefined, { from: 0, to: 1 }, { attributes })]);
    expect([...usageUnder(alone).values()]).toEqual([{ input: 360, output: 7, cost: "0.0063" }]);
  });

  it("are added by agent and by what it called", () => {
    const steps = stepSummaries(tree, agentOf, waitsOf(tree));
    expect(steps.map(({ first, ...step }) => [first.id, step])).toEqual([
      [
        "m1",
        {
          agent: "planner",
          kind: "model",
          name: "chat m",
          calls: 1,
          failed: 0,
          duration: 10,
          waiting: 0,
          usage: { input: 100, output: 5, cost: "0.001" },
        },
      ],
      [
        "dispatch",
        {
          agent: "planner",
          kind: "tool",
          name: "execute_tool search",
          calls: 2,
          failed: 1,
          duration: 54,
          waiting: 40,
          usage: {},
        },
      ],
      [
        "m2",
        {
          agent: "helper",
          kind: "model",
          name: "chat m",
          calls: 2,
          failed: 0,
          duration: 20,
          waiting: 0,
          usage: { input: 21, output: 10, cost: "0.0005" },
        },
      ],
    ]);
  });
});

describe("the sum of costs", () => {
  it("is exact", () => {
    const number = fc.record({
      units: fc.bigInt({ min: 0n, max: 10n ** 20n }),
      scale: fc.nat({ max: 12 }),
    });
    const textOf = (units: bigint, scale: number) => {
      const digits = String(units).padStart(scale + 1, "0");
      const split = digits.length - scale;
      return `${digits.slice(0, split)}${scale === 0 ? "" : `.${digits.slice(split)}`}`;
    };
    fc.assert(
      fc.property(number, number, (one, other) => {
        const scale = Math.max(one.scale, other.scale);
        const units =
          one.units * 10n ** BigInt(scale - one.scale) +
          other.units * 10n ** BigInt(scale - other.scale);
        const sum = addCosts(textOf(one.units, one.scale), textOf(other.units, other.scale));
        expect(sum).toBe(textOf(units, scale));
      }),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ["1.5", "free", "1.5"],
    ["free", "1.5", "1.5"],
    ["-1", "1.5", "1.5"],
    ["", "free", undefined],
    [undefined, "0.10", "0.10"],
  ])("of %j and %j is %j", (one, other, sum) => {
    expect(addCosts(one, other)).toBe(sum);
  });

  it("leaves out what is no cost, also of one call", () => {
    const alone = spanTree([model("m", "run", 1, "free")]);
    expect([...usageUnder(alone).values()]).toEqual([{ input: 1, output: 5 }]);
  });
});
