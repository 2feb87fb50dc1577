import { describe, expect, it } from "vitest";
import type { PricedCall } from "../../../src/entries/claude-agent.ts";
import { observe, play, prompts } from "./observed.ts";
import {
  type Message,
  result,
  resultError,
  type ScriptedOptions,
  type ScriptedProcess,
  totals,
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
  return seen.of("complete").map(({ event }) => event.usage);
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

  it("of failed prompts are not those of the next", async () => {
    const [only] = await usages([
      resultError("error_max_turns", ["(2)"], totals(10, 5, 0.1)),
      result("b", totals(12, 6, 0.12)),
    ]);
    expect(only).toMatchObject({ input_tokens: 12, output_tokens: 1, cost_usd: "0.02" });
  });

  it("of zeros that a crash says change nothing", async () => {
    const [, second] = await usages([
      result("a", totals(10, 5, 0.1)),
      resultError("error_during_execution", ["crash"], { modelUsage: {}, total_cost_usd: 0 }),
      result("b", totals(12, 6, 0.12)),
    ]);
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

describe("the option price", () => {
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
