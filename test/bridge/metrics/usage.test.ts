import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const ROOT = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const GRANDCHILD = "018f3c7a-0000-7000-8000-000000000003";

const root = new RunEvents(ROOT);
const child = new RunEvents(CHILD);
const grandchild = new RunEvents(GRANDCHILD);

/** Figures of a budget that all share. */
const whole = { requests: 3, input_tokens: 1000, output_tokens: 500, tool_calls: 0 };
const call = { usage: { input_tokens: 10, output_tokens: 3 } };

type Bench = ReturnType<typeof meteredBench>;

/** Tokens by agent and type, and cost by agent. */
async function counted(bench: Bench) {
  const seen = await bench.collect();
  const tokens: Record<string, number> = {};
  for (const { attributes, value } of seen.points("entelix.tokens")) {
    const at = `${attributes["gen_ai.agent.name"]} ${attributes["gen_ai.token.type"]}`;
    if (value !== 0) tokens[at] = value;
  }
  const cost: Record<string, number> = {};
  for (const { attributes, value } of seen.points("entelix.cost")) {
    if (value !== 0) cost[`${attributes["gen_ai.agent.name"]}`] = value;
  }
  expect(bench.reports).toEqual([]);
  return { tokens, cost };
}

describe("usage that only the end of its run has", () => {
  const details = { own_usage: true };
  const usage = { ...whole, cost_usd: "0.5" };

  it("counts beside that of other runs' calls, below them and above them", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", { ...call, cost_usd: "0.1" }));
    bench.at(3, grandchild.started("claude", CHILD));
    bench.at(4, grandchild.complete({ usage }), { details });
    bench.at(5, child.complete({ usage: whole }));
    bench.at(6, root.failed(), { details: { ...details, usage } });
    const { cost, tokens } = await counted(bench);
    expect(tokens).toEqual({
      "helper input": 10,
      "helper output": 3,
      "claude input": 1000,
      "claude output": 500,
      "boss input": 1000,
      "boss output": 500,
    });
    expect(cost).toEqual({ helper: 0.1, claude: 0.5, boss: 0.5 });
  });
});

describe("usage of a run of its own that a root's usage includes", () => {
  it("is counted once", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("claude", ROOT));
    const own = { details: { own_usage: true } };
    bench.at(2, child.complete({ usage: { ...whole, cost_usd: "0.5" } }), own);
    bench.at(3, root.complete({ usage: { ...whole, cost_usd: "0.5" } }));
    const { cost, tokens } = await counted(bench);
    expect(cost).toEqual({ claude: 0.5 });
    expect(tokens).toEqual({ "claude input": 1000, "claude output": 500 });
  });
});

describe("tokens", () => {
  it("count as model calls end, for the agent that called, also while the run is open", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", call));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
    bench.at(3, root.modelComplete("m1", { usage: { input_tokens: 5n } }));
    expect((await counted(bench)).tokens).toEqual({
      "helper input": 10,
      "helper output": 3,
      "boss input": 5,
    });
  });

  it.each([
    ["complete", () => root.complete({ usage: whole })],
    ["failed", () => root.failed()],
    ["interrupted", () => root.interrupted()],
  ])("of a run that is %s are its calls', once", async (_, end) => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    for (let times = 0; times < 2; times++) bench.at(1, root.modelComplete("m1", call));
    bench.at(2, end());
    expect((await counted(bench)).tokens).toEqual({ "boss input": 10, "boss output": 3 });
  });

  it.each([
    ["failed", () => root.failed()],
    ["interrupted", () => root.interrupted()],
  ])(
    "of a run that is %s are the root's where no call says any, else its calls'",
    async (_, end) => {
      const details = { usage: { ...whole, cost_usd: "0.25" } };
      for (const known of [false, true]) {
        const bench = meteredBench();
        bench.at(0, root.started("boss"));
        if (known) bench.at(1, root.modelComplete("m1", { ...call, cost_usd: "0.01" }));
        bench.at(2, end(), { details });
        const [span] = bench.spans().filter(({ name }) => name.startsWith("invoke"));
        expect(span?.attributes).toMatchObject({
          "gen_ai.usage.input_tokens": 1000,
          "entelix.agent.usage.cost": "0.25",
        });
        expect(await counted(bench)).toEqual(
          known
            ? { tokens: { "boss input": 10, "boss output": 3 }, cost: { boss: 0.01 } }
            : { tokens: { "boss input": 1000, "boss output": 500 }, cost: { boss: 0.25 } },
        );
      }
    },
  );

  it("of a call count for the provider that answered", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelStart("m1", { provider: "openai" }));
    bench.at(2, root.modelComplete("m1", { ...call, provider: "anthropic" }));
    const seen = await bench.collect();
    const [point] = seen.points("gen_ai.client.inference.usage.input_tokens");
    expect(point?.attributes["gen_ai.provider.name"]).toBe("anthropic");
    const [span] = bench.spans().filter(({ name }) => name.startsWith("chat"));
    expect(span?.attributes["gen_ai.provider.name"]).toBe("anthropic");
  });

  it("of a run's two segments count once each", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.interrupted(), { details: { usage: whole } });
    bench.at(2, root.started("boss"));
    bench.at(3, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "boss input": 2000, "boss output": 1000 });
  });

  it("of a run that is given up stay counted", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", call));
    await bench.sink.shutdown();
    expect((await counted(bench)).tokens).toEqual({ "boss input": 10, "boss output": 3 });
  });

  it("do not depend on sampling", async () => {
    const bench = meteredBench({}, { sampler: new AlwaysOffSampler() });
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", call));
    bench.at(3, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
    expect(bench.spans()).toEqual([]);
  });

  it("are the root's where no call says any, and its children's are in them", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1"));
    bench.at(3, child.complete({ usage: whole }));
    bench.at(4, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "boss input": 1000, "boss output": 500 });
  });

  it("are the root's alone, too, where a call ends after it", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, root.complete({ usage: whole }));
    bench.at(3, child.modelComplete("m1", call));
    bench.at(4, child.complete());
    // Nothing of the tree is open any more.
    bench.at(5, grandchild.started("late", CHILD));
    bench.at(6, grandchild.modelComplete("m1", call));
    expect((await counted(bench)).tokens).toEqual({ "boss input": 1000, "boss output": 500 });
  });

  it("of a root that says 0 are its late calls'", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, root.complete({ usage: { ...whole, input_tokens: 0, output_tokens: 0 } }));
    bench.at(3, child.modelComplete("m1", call));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
  });

  it("of a root that goes on after its children, or after a pause, count once", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", call));
    bench.at(3, child.complete());
    bench.at(4, root.interrupted());
    bench.at(5, root.started("boss"));
    bench.at(6, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
  });

  it("of a run that goes on under another id in the same trace count once", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", call));
    bench.at(2, root.interrupted());
    const next = { root_run_id: ROOT, resumed_from_run_id: ROOT };
    bench.at(3, child.started("boss"), next);
    bench.at(4, child.complete({ usage: whole }), next);
    expect((await counted(bench)).tokens).toEqual({ "boss input": 10, "boss output": 3 });
  });

  it("of a root that was given up and completes after all count once", async () => {
    const bench = meteredBench({ limits: { openRuns: 1 } });
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", call));
    bench.at(2, new RunEvents(GRANDCHILD, "globex").started("other"));
    bench.at(3, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "boss input": 10, "boss output": 3 });
  });

  it("of children that come before their root count once", async () => {
    const bench = meteredBench();
    const below = { root_run_id: ROOT };
    bench.at(2, grandchild.started("helper", CHILD), below);
    bench.at(3, grandchild.modelComplete("m1", call), below);
    bench.at(1, child.started("team", ROOT), below);
    bench.at(0, root.started("boss"));
    bench.at(4, grandchild.complete(), below);
    bench.at(5, child.complete(), below);
    bench.at(6, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
  });

  it("count once where nobody names the root: the parents do, one after the other", async () => {
    const bench = meteredBench();
    bench.at(2, grandchild.started("helper", CHILD));
    bench.at(3, grandchild.modelComplete("m1", call));
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("team", ROOT));
    bench.at(6, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
  });

  it("count once where a run's parent is known only after its call", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(2, child.modelComplete("m1", call));
    bench.at(1, child.started("helper", ROOT));
    bench.at(3, child.modelComplete("m2", call));
    bench.at(4, root.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({
      "unknown input": 10,
      "unknown output": 3,
      "helper input": 10,
      "helper output": 3,
    });
  });

  it("of a child whose parent is in another process are its own tree's", async () => {
    const here = meteredBench();
    const there = meteredBench();
    here.at(0, root.started("boss"));
    // Its process knows the parent from the headers of the request.
    const from = { root_run_id: ROOT };
    there.at(1, child.started("helper", ROOT), from);
    there.at(2, child.modelComplete("m1", call), from);
    there.at(3, child.complete({ usage: { ...whole, input_tokens: 10, output_tokens: 3 } }), from);
    // The budget of the parent's process holds nothing of that.
    here.at(4, root.complete({ usage: whole }));
    expect((await counted(there)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
    expect((await counted(here)).tokens).toEqual({ "boss input": 1000, "boss output": 500 });
  });

  it("of a child that nobody vouches for count once, as a root's", async () => {
    const bench = meteredBench();
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", call));
    bench.at(3, child.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toEqual({ "helper input": 10, "helper output": 3 });
  });

  it("of equal run ids of two tenants are two trees'", async () => {
    const bench = meteredBench();
    const other = new RunEvents(ROOT, "globex");
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", call));
    bench.at(1, other.started("other"));
    bench.at(2, other.complete({ usage: whole }));
    expect((await counted(bench)).tokens).toMatchObject({
      "boss input": 10,
      "other input": 1000,
    });
  });

  it("are seen at 0 before a child's first call", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    const seen = await bench.collect();
    const labels = { "gen_ai.agent.name": "helper", "entelix.tenant_id": "acme" };
    expect(seen.point("entelix.cost", labels)?.value).toBe(0);
    for (const type of ["input", "output"]) {
      const point = seen.point("entelix.tokens", { ...labels, "gen_ai.token.type": type });
      expect(point?.value).toBe(0);
    }
  });
});

describe("cost", () => {
  it("counts as calls end, and beside it tokens from where they are known", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, child.started("helper", ROOT));
    bench.at(2, child.modelComplete("m1", { cost_usd: "0.25" }));
    expect((await counted(bench)).cost).toEqual({ helper: 0.25 });
    bench.at(3, root.complete({ usage: { ...whole, cost_usd: "0.25" } }));
    expect(await counted(bench)).toEqual({
      tokens: { "boss input": 1000, "boss output": 500 },
      cost: { helper: 0.25 },
    });
  });

  it("that only the root says, as added by hand, is the root's", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", call));
    bench.at(2, root.complete({ usage: { ...whole, cost_usd: "0.5" } }));
    expect(await counted(bench)).toEqual({
      tokens: { "boss input": 10, "boss output": 3 },
      cost: { boss: 0.5 },
    });
  });

  it("is none without a price, whatever zeros say", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", { ...call, cost_usd: "0" }));
    bench.at(2, root.complete({ usage: { ...whole, cost_usd: "0.00" } }));
    expect((await counted(bench)).cost).toEqual({});
  });

  it("that is no decimal is a failure, and counts as none", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelComplete("m1", { ...call, cost_usd: "-1" }));
    const seen = await bench.collect();
    expect(seen.sum("entelix.cost")).toBe(0);
    expect(bench.sink.diagnostics().metricFailures).toBe(1);
  });
});

describe("a provider that only the end names", () => {
  it("is the label of the call", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.modelStart("m1"));
    bench.at(2, root.modelComplete("m1", { provider: "anthropic" }));
    const seen = await bench.collect();
    const [point] = seen.points("gen_ai.client.inference.duration");
    expect(point?.attributes["gen_ai.provider.name"]).toBe("anthropic");
  });
});

describe("a cancelled tool call", () => {
  it("is no failure of its tool", async () => {
    const bench = meteredBench();
    bench.at(0, root.started("boss"));
    bench.at(1, root.toolStart("c1"));
    bench.at(2, root.toolCancelled("c1"));
    const seen = await bench.collect();
    expect(seen.sum("entelix.tool.failures")).toBe(0);
    expect(seen.sum("entelix.tool.cancelled")).toBe(1);
  });

  it("count in a run that completes in spite of them as a degraded run of each tool", async () => {
    const bench = meteredBench();
    bench.at(0, root.started());
    bench.at(1, root.toolError("c1"));
    bench.at(2, root.toolError("c2", { tool: "pay" }));
    bench.at(3, root.toolError("c3", { tool: "look" }));
    bench.at(4, root.toolComplete("c4", "look"));
    bench.at(5, root.complete());
    const seen = await bench.collect();
    const tools = seen
      .points("entelix.runs.degraded")
      .map(({ attributes, value }) => [attributes["gen_ai.tool.name"], value]);
    expect(tools.toSorted()).toEqual([
      ["fetch", 1],
      ["pay", 1],
    ]);
    expect(seen.sum("entelix.runs")).toBe(1);
  });
});
