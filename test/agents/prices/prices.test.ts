import { readFileSync } from "node:fs";
import { calcPrice } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimates } from "../../../src/agents/prices/door.ts";
import {
  type ModelCallUsage,
  PRICE_LIST,
  type PricedCall,
  prices,
} from "../../../src/entries/prices.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { CaptureSink } from "../../../src/entries/sinks.ts";
import { runs as cases } from "../../support/runs.ts";

const USAGE: ModelCallUsage = { input_tokens: 1_000, output_tokens: 100 };
const AT = new Date("2026-11-29T12:00:00Z");

function call(
  provider: string | undefined,
  model: string | undefined,
  rest: Partial<PricedCall> = {},
) {
  return { provider, model, responseModel: undefined, usage: USAGE, ...rest };
}

const { costOf } = estimates();

describe("the list of prices", () => {
  it.each([
    ["openai", "gpt-4o-mini", "0.00021"],
    ["openai", "gpt-4o-mini-2024-07-18", "0.00021"],
    ["openai", "ft:gpt-4o-mini-2024-07-18:acme::abc", "0.00042"],
    ["anthropic", "claude-sonnet-4-5-20250929", "0.0045"],
    ["aws.bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "0.00495"],
    ["aws.bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "0.0045"],
    ["azure.ai.openai", "gpt-4o", "0.0035"],
    ["azure.ai.inference", "gpt-4o", "0.0035"],
    ["gcp.gemini", "gemini-2.5-flash", "0.00055"],
    ["gcp.vertex_ai", "gemini-2.5-flash", "0.00055"],
    ["gcp.gen_ai", "gemini-2.5-pro", "0.00225"],
    ["x_ai", "grok-3", "0.0045"],
    ["mistral_ai", "mistral-large-latest", "0.0026"],
    ["groq", "llama-3.3-70b-versatile", "0.000669"],
    ["perplexity", "sonar", "0.0131"],
    ["openai.responses", "gpt-4o", "0.0035"],
    ["openrouter", "openai/gpt-4o", "0.0035"],
    [undefined, "gpt-4o", "0.0035"],
    [undefined, "claude-sonnet-4-5", "0.0045"],
  ])("has %s %s: %s", (provider, model, cost) => {
    expect(costOf(call(provider, model), AT)).toBe(cost);
  });

  it.each([
    ["openai", "my-model"],
    ["openai", "gpt-4o-mini-finetune-x"],
    ["anthropic", "claude-99"],
    ["my-gateway", "gpt-4o"],
    ["ollama", "gpt-oss:20b"],
    [undefined, "deepseek-r1:7b"],
    [undefined, "llama3.1:8b"],
    ["openai", "gpt-4o-audio-preview"],
    ["openai", "gpt-realtime"],
    ["openai", "whisper-1"],
    ["google", "gemini-2.5-flash-image"],
    ["perplexity", "sonar-deep-research"],
    ["openai", undefined],
    [undefined, undefined],
  ])("does not know %s %s: no cost, and not 0", (provider, model) => {
    expect(costOf(call(provider, model), AT)).toBeUndefined();
  });

  it("has its own prices for tokens from and to a cache, which are a part of the input", () => {
    const usage = { ...USAGE, cache_read_input_tokens: 500, cache_write_input_tokens: 200 };
    expect(costOf(call("anthropic", "claude-sonnet-4-5", { usage }), AT)).toBe("0.0033");
    expect(costOf(call("openai", "gpt-4o", { usage }), AT)).toBe("0.002875");
    const wrong = { ...USAGE, cache_read_input_tokens: 1_001 };
    expect(costOf(call("openai", "gpt-4o", { usage: wrong }), AT)).toBeUndefined();
  });

  it("does not know a part of a token", () => {
    for (const name of ["input_tokens", "output_tokens", "cache_read_input_tokens"]) {
      const usage = { ...USAGE, [name]: 12.5 };
      expect(costOf(call("openai", "gpt-4o", { usage }), AT), name).toBeUndefined();
    }
  });

  it.each([
    ["gpt-4o", "gpt-4o-2024-08-06", "0.0035"],
    ["claude-sonnet-4-5", "eu.anthropic.claude-sonnet-4-5-v1:0", "0.0045"],
    ["gpt-4o", "gpt-4o-mini-finetune-x", undefined],
    ["gpt-4o", "some-other-model", undefined],
  ])("of a call to %s that %s answered: %s", (model, responseModel, cost) => {
    const priced = {
      ...call(model.startsWith("gpt") ? "openai" : "anthropic", model),
      responseModel,
    };
    expect(costOf(priced, AT)).toBe(cost);
    const own = prices({ own: { [model]: { input: "1", output: "1" } } });
    expect(own({ ...priced, provider: "mine" }) === undefined).toBe(cost === undefined);
  });

  it("does not remember names that no model has", () => {
    expect(costOf(call("openai", `gpt-4o${"x".repeat(1_000_000)}`), AT)).toBeUndefined();
  });

  it("counts tokens of reasoning as output", () => {
    const usage = { ...USAGE, reasoning_output_tokens: 90 };
    expect(costOf(call("openai", "o3", { usage }), AT)).toBe("0.0028");
  });

  it("has higher prices for calls with many tokens", () => {
    const usage = { input_tokens: 200_000, output_tokens: 100 };
    const more = { input_tokens: 200_001, output_tokens: 100 };
    expect(costOf(call("google", "gemini-2.5-pro", { usage }), AT)).toBe("0.251");
    expect(costOf(call("google", "gemini-2.5-pro", { usage: more }), AT)).toBe("0.5015025");
  });

  it("has the prices of the time", () => {
    const usage = { input_tokens: 300_000, output_tokens: 0 };
    const long = call("anthropic", "claude-opus-4-6", { usage });
    expect(costOf(long, new Date("2026-03-01T00:00:00Z"))).toBe("3");
    expect(costOf(long, new Date("2026-04-01T00:00:00Z"))).toBe("1.5");
  });

  it("needs the numbers of tokens that its prices are of", () => {
    const of = (model: string, usage: ModelCallUsage) =>
      costOf(call("openai", model, { usage }), AT);
    expect(of("gpt-4o", { input_tokens: 5 })).toBeUndefined();
    expect(of("gpt-4o", { output_tokens: 5 })).toBeUndefined();
    expect(of("gpt-4o", {})).toBeUndefined();
    expect(of("gpt-4o", { input_tokens: 0, output_tokens: 0 })).toBe("0");
    expect(of("text-embedding-3-small", { input_tokens: 1_000 })).toBe("0.00002");
    expect(of("text-embedding-3-small", { input_tokens: 1_000, output_tokens: 3 })).toBeUndefined();
  });

  it("prices the model that answered, and the one that was asked for only under another name", () => {
    const answered = (model: string, responseModel: string, provider = "openai") =>
      costOf(call(provider, model, { responseModel }), AT);
    expect(answered("gpt-4o", "gpt-4o-mini-2024-07-18")).toBe("0.00021");
    expect(answered("my-deployment", "gpt-4o-2024-08-06")).toBe("0.0035");
    expect(answered("gpt-4o", "other-model")).toBeUndefined();
    const asked = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
    expect(answered(asked, "claude-sonnet-4-5-20250929", "aws.bedrock")).toBe("0.00495");
  });

  it("gives what its package computes, exactly", () => {
    const tokens = fc.nat({ max: 1_000_000 });
    const models = ["gpt-4o", "gpt-5.1", "claude-sonnet-4-5", "gemini-2.5-pro", "claude-haiku-4-5"];
    const provider = (model: string) =>
      model.startsWith("gpt") ? "openai" : model.startsWith("claude") ? "anthropic" : "google";
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        tokens,
        tokens,
        tokens,
        (model, fresh, read, output) => {
          const usage = {
            input_tokens: fresh + read,
            output_tokens: output,
            cache_read_input_tokens: read,
          };
          const theirs = calcPrice(
            { input_tokens: fresh + read, output_tokens: output, cache_read_tokens: read },
            model,
            { providerId: provider(model), timestamp: AT },
          );
          const cost = Number(costOf(call(provider(model), model, { usage }), AT));
          expect(cost).toBeCloseTo(theirs?.total_price ?? Number.NaN, 9);
        },
      ),
      { numRuns: cases(200) },
    );
  });

  it("is the version that is tested here, and its date is known", () => {
    const read = (path: string) =>
      JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));
    const { devDependencies } = read("package.json");
    expect(PRICE_LIST).toEqual({
      package: "@pydantic/genai-prices",
      version: devDependencies["@pydantic/genai-prices"],
      date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    });
    expect(estimates().name).toBe(`prices of ${PRICE_LIST.date}`);
    const page = readFileSync(new URL("../../../docs/prices.md", import.meta.url), "utf8");
    expect(page).toContain(`${PRICE_LIST.version} of ${PRICE_LIST.date}`);
  });
});

describe("prices()", () => {
  it("is the price of an agent: on each call, and as the cost of the run", async () => {
    const sink = new CaptureSink();
    const budget = { costUsd: "1" };
    const run = { agent: "support", tenant: "acme", sink, price: prices(), budget };
    await runAgent(run, async (agent) => {
      for (const model of ["gpt-4o-mini", "own-model"]) {
        await agent.model(model, { provider: "openai" }, (call) => call.report({ usage: USAGE }));
      }
    });
    const costs = sink.events.flatMap((event) =>
      event.type === "model_complete" ? [event.cost_usd] : [],
    );
    expect(costs).toEqual(["0.00021", undefined]);
    const end = sink.events.find(({ type }) => type === "complete");
    expect(end).toMatchObject({ usage: { cost_usd: "0.00021" } });
  });

  it("takes the prices of the application first, exactly", () => {
    const own = {
      "gpt-4o": { input: "1", output: "2.5", cacheRead: "0.1" },
      "own-embedder": { input: "0.0001" },
    };
    const price = prices({ own });
    const usage = { ...USAGE, cache_read_input_tokens: 400, cache_write_input_tokens: 100 };
    expect(price(call("openai", "gpt-4o", { usage }))).toBe("0.00089");
    expect(price(call("openai", "other", { responseModel: "gpt-4o" }))).toBe("0.00125");
    const vectors = { input_tokens: 3n };
    expect(price(call(undefined, "own-embedder", { usage: vectors }))).toBe("0.0000000003");
    expect(price(call("openai", "gpt-4o-mini"))).toBe("0.00021");
    expect(price(call("openai", "unknown"))).toBeUndefined();
  });

  it("takes a function of the application first", () => {
    const price = prices({ own: ({ model }) => (model === "m" ? 0.5 : undefined) });
    expect(price(call("openai", "m"))).toBe(0.5);
    expect(price(call("openai", "gpt-4o"))).toBe("0.0035");
    const free = prices({ own: () => 0 });
    expect(free(call("openai", "gpt-4o"))).toBe(0);
  });

  it.each([
    [{ own: { m: { input: 1 } } }, 'own["m"].input: expected a decimal number from 0 as text'],
    [{ own: { m: { input: "1", output: "-2" } } }, 'own["m"].output: expected a decimal number'],
    [{ own: { m: null } }, 'own["m"]: expected'],
    [{ own: 5 }, "own: expected prices by model, or a function, got number"],
  ])("refuses %j", (options, message) => {
    expect(() => Reflect.apply(prices, undefined, [options])).toThrow(message);
  });
});
