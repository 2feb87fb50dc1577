import { describe, expect, it } from "vitest";
import type { PricedCall } from "../../../src/entries/claude-agent.ts";
import { observe, play, prompts } from "./observed.ts";
import {
  type Message,
  result,
  resultError,
  returned,
  type ScriptedOptions,
  type ScriptedProcess,
  says,
  totals,
  uses,
} from "./scripted-sdk.ts";

/** The usage of runs whose results are these. */
async function usages(
  results: readonly Message[],
  options: ScriptedOptions = {},
  more: Parameters<typeof observe>[0] = {},
) {
  const seen = observe(more);
  const script = async (sdk: ScriptedProcess) => {
    for (const each of results) {
      if (each.type === "result") await sdk.prompt("hi");
      sdk.send(each);
      await sdk.settle();
    }
  };
  await play(seen, script, { prompt: prompts(), options });
  return usagesOf(seen);
}

/** The usage at each end of a run. */
function usagesOf(seen: ReturnType<typeof observe>) {
  return seen.told.flatMap(({ envelope, event }) => {
    if (event.type === "complete") return [event.usage];
    return event.type === "failed" ? [envelope.details?.usage] : [];
  });
}

/** One prompt in a query of its own. */
async function ask(
  seen: ReturnType<typeof observe>,
  options: ScriptedOptions,
  ...messages: readonly Message[]
) {
  const script = async (sdk: ScriptedProcess) => {
    await sdk.prompt("hi");
    sdk.send(...messages);
  };
  await play(seen, script, { options });
}

const ofMainLoop = { input_tokens: 4, output_tokens: 2, cache_read_input_tokens: 1 };

describe("tokens and cost", () => {
  it("of a prompt are the difference of the totals", async () => {
    const [first, second] = await usages([
      result("a", totals(10, 5, 0.1)),
      result("b", totals(15, 7, 0.30000000000000004)),
    ]);
    expect(first).toMatchObject({ input_tokens: 60, output_tokens: 5, cost_usd: "0.1" });
    expect(second).toMatchObject({
      input_tokens: 30,
      output_tokens: 2,
      cache_read_input_tokens: 15,
      cache_write_input_tokens: 10,
      cost_usd: "0.2",
    });
  });

  it("of several models are their sum, also of one that joins later", async () => {
    const one = totals(10, 5, 0.1);
    const two = totals(1, 1, 0, "claude-haiku");
    const both = { total_cost_usd: 0.15, modelUsage: { ...one.modelUsage, ...two.modelUsage } };
    const [, second] = await usages([result("a", one), result("b", both)]);
    expect(second).toMatchObject({ input_tokens: 6, output_tokens: 1, cost_usd: "0.05" });
  });

  it("of a prompt that cost nothing are known to be zero", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("/cost");
      sdk.send(result("", { modelUsage: {}, total_cost_usd: 0 }));
    });
    const [complete] = seen.of("complete");
    expect(complete?.event.usage?.cost_usd).toBe("0");
    expect(complete?.envelope.details?.cost_known).toBe(true);
    expect(seen.find("invoke_agent claude")?.attributes["entelix.agent.usage.cost"]).toBe("0");
  });

  it("of failed prompts are theirs, and not those of the next", async () => {
    const [failed, only] = await usages([
      resultError("error_max_turns", ["(2)"], totals(10, 5, 0.1)),
      result("b", totals(12, 6, 0.12)),
    ]);
    expect(failed).toMatchObject({ input_tokens: 60, output_tokens: 5, cost_usd: "0.1" });
    expect(only).toMatchObject({ input_tokens: 12, output_tokens: 1, cost_usd: "0.02" });
  });

  it("of zeros that a crash says change nothing", async () => {
    const [, crashed, second] = await usages([
      result("a", totals(10, 5, 0.1)),
      resultError("error_during_execution", ["crash"], { modelUsage: {}, total_cost_usd: 0 }),
      result("b", totals(12, 6, 0.12)),
    ]);
    expect(crashed).toBeUndefined();
    expect(second).toMatchObject({ output_tokens: 1, cost_usd: "0.02" });
  });

  it("begin anew after /clear", async () => {
    const [, second] = await usages([
      result("a", totals(10, 5, 0.1)),
      { type: "conversation_reset", new_conversation_id: "s2", trigger: "clear" },
      result("b", totals(2, 1, 0.02)),
    ]);
    expect(second).toMatchObject({ input_tokens: 12, output_tokens: 1, cost_usd: "0.02" });
  });

  it("are not known where the totals went down without a message", async () => {
    const seen = await usages([result("a", totals(10, 5, 0.1)), result("b", totals(2, 1, 0.02))]);
    expect(seen[1]).toBeNull();
  });

  it.each([
    ["resumed", { resume: "s0" }],
    ["forked", { resume: "s0", forkSession: true }],
    ["continued", { continue: true }],
  ])(
    "of the first result of a %s session: no cost; tokens of the main loop",
    async (_, options) => {
      const [first, second] = await usages(
        [
          result("a", { ...totals(100, 50, 1), usage: ofMainLoop }),
          result("b", { ...totals(101, 52, 1.5), usage: ofMainLoop }),
        ],
        options,
      );
      expect(first).toEqual({
        requests: 0,
        tool_calls: 0,
        input_tokens: 5,
        output_tokens: 2,
        cache_read_input_tokens: 1,
        cache_write_input_tokens: 0,
      });
      expect(second).toMatchObject({ input_tokens: 6, output_tokens: 2, cost_usd: "0.5" });
    },
  );

  it("of a resumed prompt with sub-agents are not known", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        await sdk.tool("t1", "Grep", {}, "found", { agent_id: "a1" });
        sdk.send(result("a", { ...totals(100, 50, 1), usage: ofMainLoop }));
      },
      { prompt: prompts(), options: { resume: "s0" } },
    );
    expect(seen.of("complete").at(-1)?.event.usage).toBeNull();
  });
});

describe("a session that this process knows", () => {
  const CRASH = resultError("error_during_execution", ["x"], { modelUsage: {}, total_cost_usd: 0 });
  const costs = (seen: ReturnType<typeof observe>) =>
    usagesOf(seen).map((usage) => usage?.cost_usd);

  it("goes on from its totals, resumed and forked, and a fork from its parent's", async () => {
    const seen = observe();
    await ask(seen, { sessionId: "s1" }, result("a", totals(10, 5, 0.1)));
    await ask(seen, { resume: "s1" }, result("b", totals(20, 10, 0.2)));
    await ask(seen, { resume: "s1", forkSession: true }, result("f", totals(21, 11, 0.25)));
    await ask(seen, { resume: "s1" }, result("c", totals(30, 15, 0.35)));
    await ask(seen, { resume: "s1", continue: true }, CRASH);
    await ask(seen, { resume: "s1" }, result("d", totals(31, 16, 0.36)));
    expect(costs(seen)).toEqual(["0.1", "0.1", "0.05", "0.15", undefined, "0.01"]);
  });

  it("goes on so where only the process says which session it continues", async () => {
    const seen = observe();
    await ask(seen, { sessionId: "s1" }, result("a", totals(10, 5, 0.1)));
    await ask(seen, { continue: true }, result("b", totals(20, 10, 0.3)));
    expect(costs(seen)).toEqual(["0.1", "0.2"]);
  });

  it("is not known for another tenant, nor from an earlier message on", async () => {
    const seen = observe({ tenant: ({ tenant_id }) => String(tenant_id) });
    const script = (more: Message) => async (sdk: ScriptedProcess) => {
      await sdk.prompt("hi");
      sdk.send(result("a", more));
    };
    const of = (tenant_id: string) => ({ metadata: { tenant_id } });
    const options = { resume: "s1" };
    const earlier = { resume: "s1", resumeSessionAt: "m1" };
    await play(seen, script(totals(10, 5, 0.1)), { options: { sessionId: "s1" } }, of("acme"));
    await play(seen, script(totals(20, 10, 0.2)), { options }, of("other"));
    await play(seen, script(totals(20, 10, 0.2)), { options: earlier }, of("acme"));
    expect(costs(seen)).toEqual(["0.1", undefined, undefined]);
  });

  it("is not known if another process has used it since", async () => {
    const seen = observe();
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 30 };
    const whole = { ...usage, cache_creation_input_tokens: 20 };
    await ask(seen, { sessionId: "s1" }, result("a", { ...totals(10, 5, 0.1), usage: whole }));
    await ask(seen, { resume: "s1" }, result("c", { ...totals(30, 15, 0.3), usage: whole }));
    await ask(seen, { resume: "s1" }, result("d", { ...totals(40, 20, 0.4), usage: whole }));
    expect(usagesOf(seen)).toMatchObject([
      { input_tokens: 60, cost_usd: "0.1" },
      { input_tokens: 60 },
      { input_tokens: 60, cost_usd: "0.1" },
    ]);
    expect(costs(seen)[1]).toBeUndefined();
  });

  it("has a limit of cost for each query, without what it cost before", async () => {
    const seen = observe();
    const over = (cost: number) => resultError("error_max_budget_usd", [], totals(20, 10, cost));
    await ask(seen, { sessionId: "s1" }, result("a", totals(10, 5, 0.1)));
    await ask(seen, { resume: "s1", maxBudgetUsd: 0.05 }, over(0.2));
    const [failed] = seen.of("failed");
    expect(failed?.event.envelope.breach).toMatchObject({ limit: "0.05", observed: "0.1" });
  });

  it("starts no run for what follows a limit", async () => {
    const seen = observe();
    const over = resultError("error_max_budget_usd", ["(1)"], totals(10, 5, 0.1));
    await ask(seen, {}, says("m1", uses("t1", "Bash")), over, returned("t1", "late"));
    expect(seen.of("started")).toHaveLength(1);
  });
});

describe("the option price", () => {
  it("gives the cost of a resumed session's main loop, if it has used one model only", async () => {
    const price = () => "0.5";
    const one = result("a", { ...totals(100, 50, 1), usage: ofMainLoop });
    const haiku = totals(1, 1, 0, "claude-haiku").modelUsage;
    const modelUsage = { ...totals(100, 50, 1).modelUsage, ...haiku };
    const two = result("a", { total_cost_usd: 1, modelUsage, usage: ofMainLoop });
    const [only] = await usages([one], { resume: "s0" }, { price });
    const [either] = await usages([two], { resume: "s0" }, { price });
    expect(only).toMatchObject({ input_tokens: 5, cost_usd: "0.5" });
    expect(either).toMatchObject({ input_tokens: 5 });
    expect(either).not.toHaveProperty("cost_usd");
  });

  it("gets the difference of each model, and takes the place of the estimate", async () => {
    const calls: PricedCall[] = [];
    const price = (call: PricedCall) => {
      calls.push(call);
      return "0.004";
    };
    const one = totals(10, 5, 0.1);
    const two = totals(1, 1, 0, "claude-haiku");
    const both = { total_cost_usd: 0.15, modelUsage: { ...one.modelUsage, ...two.modelUsage } };
    const [first, second] = await usages([result("a", one), result("b", both)], {}, { price });
    expect([first?.cost_usd, second?.cost_usd]).toEqual(["0.004", "0.004"]);
    expect(calls[1]).toEqual({
      provider: "anthropic",
      model: "claude-haiku",
      responseModel: "claude-haiku",
      usage: {
        input_tokens: 6,
        output_tokens: 1,
        cache_read_input_tokens: 3,
        cache_write_input_tokens: 2,
      },
    });
  });

  it("that does not know a model leaves the cost unknown", async () => {
    const [first] = await usages([result("a")], {}, { price: () => undefined });
    expect(first).not.toHaveProperty("cost_usd");
  });
});
