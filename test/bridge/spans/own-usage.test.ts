import { describe, expect, it } from "vitest";
import type { ModelCallUsage } from "../../../src/entries/events.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const run = new RunEvents(RUN);

const usage: ModelCallUsage = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_input_tokens: 60,
  cache_write_input_tokens: 10,
  reasoning_output_tokens: 5,
};

const TWICE = {
  "entelix.run.input_tokens": 200,
  "entelix.run.output_tokens": 40,
  "entelix.run.cache_read.input_tokens": 120,
  "entelix.run.cache_write.input_tokens": 20,
  "entelix.run.reasoning.output_tokens": 10,
  "entelix.run.cost": "0.30",
};

/** What the span says of the run's own usage. */
function ownUsage(attributes: Readonly<Record<string, unknown>>) {
  const own = Object.entries(attributes).filter(([name]) => name in TWICE);
  return Object.fromEntries(own);
}

describe("a run's own usage", () => {
  const ends: readonly (readonly [string, AgentEvent | undefined])[] = [
    ["complete", run.complete()],
    ["failed", run.failed()],
    ["interrupted", run.interrupted()],
    ["abandoned", undefined],
  ];
  it.each(ends)("is on its span when it is %s, with the calls that ended", async (outcome, end) => {
    const test = bench();
    test.at(0, run.started());
    for (const [id, cost_usd] of [
      ["m1", "0.1"],
      ["m2", "0.20"],
    ] as const) {
      test.at(1, run.modelStart(id));
      test.at(2, run.modelComplete(id, { usage, cost_usd }));
      // Told again, it is the same call.
      test.at(2, run.modelComplete(id, { usage, cost_usd }));
    }
    test.at(3, run.modelStart("m3"));
    if (end !== undefined) test.at(4, end);
    await test.sink.shutdown();
    const { attributes } = test.find("invoke_agent react");
    expect(attributes["entelix.run.outcome"]).toBe(outcome);
    expect(ownUsage(attributes)).toEqual(TWICE);
  });

  it("is not its children's, and the budget's stands beside it", () => {
    const test = bench();
    const child = new RunEvents(CHILD);
    test.at(0, run.started("boss"));
    test.at(1, child.started("helper", RUN));
    test.at(2, child.modelComplete("m1", { usage: { input_tokens: 7 } }));
    const shared = { requests: 2, input_tokens: 7, output_tokens: 0, tool_calls: 0 };
    test.at(3, child.complete({ usage: shared }));
    test.at(4, run.modelComplete("m1", { usage: { output_tokens: 3 } }));
    test.at(5, run.complete({ usage: { ...shared, output_tokens: 3 } }));
    const boss = test.find("invoke_agent boss").attributes;
    const helper = test.find("invoke_agent helper").attributes;
    expect(ownUsage(boss)).toEqual({ "entelix.run.output_tokens": 3 });
    expect(boss["gen_ai.usage.input_tokens"]).toBe(7);
    expect(ownUsage(helper)).toEqual({ "entelix.run.input_tokens": 7 });
    expect(helper["entelix.usage.input_tokens"]).toBe(7);
  });

  it("goes on over the segments of a run", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.modelComplete("m1", { usage: { input_tokens: 1 } }));
    test.at(2, run.interrupted());
    test.at(3, run.started());
    test.at(4, run.modelComplete("m2", { usage: { input_tokens: 2 } }));
    test.at(5, run.failed());
    const segments = test.spans().filter(({ name }) => name === "invoke_agent react");
    const said = segments.map(({ attributes }) => attributes["entelix.run.input_tokens"]);
    expect(said).toEqual([1, 3]);
  });

  it("stays what an attribute can hold", () => {
    const test = bench();
    test.at(0, run.started());
    for (const id of ["m1", "m2"]) {
      test.at(1, run.modelComplete(id, { usage: { input_tokens: 2n ** 63n } }));
    }
    test.at(2, run.modelComplete("m3", { usage: { input_tokens: 5 } }));
    test.at(3, run.complete());
    const { attributes } = test.find("invoke_agent react");
    expect(attributes["entelix.run.input_tokens"]).toBe(2 ** 63 - 1024);
  });

  it("adds costs of any length exactly, and none that is no decimal", () => {
    const test = bench();
    test.at(0, run.started());
    const costs = ["12345678901234567890.000000000001", "0.000000000002", "-1", "1e3", "1,5"];
    for (const [at, cost_usd] of costs.entries()) {
      test.at(1, run.modelComplete(`m${at}`, { cost_usd }));
    }
    test.at(3, run.complete());
    const { attributes } = test.find("invoke_agent react");
    expect(attributes["entelix.run.cost"]).toBe("12345678901234567890.000000000003");
  });
});

describe("a cost", () => {
  /** What the spans of a run and its call say of their cost. */
  function costs(cost_usd: string | null | undefined, cost_known?: boolean) {
    const test = bench();
    const envelope = cost_known === undefined ? {} : { details: { cost_known } };
    const cost = cost_usd === undefined ? {} : { cost_usd };
    const shared = { requests: 1, input_tokens: 1, output_tokens: 1, tool_calls: 0, ...cost };
    test.at(0, run.started("boss"));
    test.at(1, new RunEvents(CHILD).started("helper", RUN));
    test.at(2, new RunEvents(CHILD).complete({ usage: shared }), envelope);
    test.at(3, run.modelComplete("m1", cost), envelope);
    test.at(4, run.complete({ usage: shared }), envelope);
    const boss = test.find("invoke_agent boss").attributes;
    return [
      boss["entelix.agent.usage.cost"],
      boss["entelix.run.cost"],
      test.find("invoke_agent helper").attributes["entelix.usage.cost"],
      test.find("chat small-1").attributes["entelix.model.cost"],
    ];
  }

  it("of any decimals is said as it came", () => {
    expect(costs("0.30")).toEqual(Array(4).fill("0.30"));
  });

  it("that nobody knows is absent, and so is a zero that nobody vouches for", () => {
    for (const unknown of [undefined, null, "0", "0.00", "00"]) {
      expect(costs(unknown)).toEqual(Array(4).fill(undefined));
      expect(costs(unknown, false)).toEqual(Array(4).fill(undefined));
    }
  });

  it("of zero is said where it is known", () => {
    expect(costs("0", true)).toEqual(Array(4).fill("0"));
    expect(costs("0.00", true)).toEqual(Array(4).fill("0.00"));
  });
});

describe("cached tokens", () => {
  it("stand on the root under the names that backends sum, on a child under ours", () => {
    const test = bench();
    const shared = {
      requests: 1,
      input_tokens: 100,
      output_tokens: 1,
      tool_calls: 0,
      cache_read_input_tokens: 60n,
      cache_write_input_tokens: 10,
    };
    test.at(0, run.started("boss"));
    test.at(1, new RunEvents(CHILD).started("helper", RUN));
    test.at(2, new RunEvents(CHILD).complete({ usage: shared }));
    test.at(3, run.complete({ usage: shared }));
    expect(test.find("invoke_agent boss").attributes).toMatchObject({
      "gen_ai.usage.cache_read.input_tokens": 60,
      "gen_ai.usage.cache_write.input_tokens": 10,
      "gen_ai.usage.cache_creation.input_tokens": 10,
    });
    expect(test.find("invoke_agent helper").attributes).toMatchObject({
      "entelix.usage.cache_read.input_tokens": 60,
      "entelix.usage.cache_write.input_tokens": 10,
    });
  });
});
