import { describe, expect, it } from "vitest";
import { LangChainHandler } from "../../../src/agents/langchain/handler.ts";
import { requestOf } from "../../../src/agents/langchain/model-request.ts";
import type { Price, PricedCall } from "../../../src/agents/runtime/price.ts";
import { CaptureSink } from "../../../src/entries/sinks.ts";

const asked = (invocation_params: object, metadata: object = {}, serialized: object = {}) =>
  requestOf({ ...serialized }, { invocation_params }, { ...metadata });

const chatOpenAI = { id: ["langchain", "chat_models", "openai", "ChatOpenAI"] };

describe("what a model is asked with", () => {
  it("is read from OpenAI's, Anthropic's and Google's parameters", () => {
    const openai = {
      temperature: 0.1,
      top_p: 0.9,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      n: 2,
      stop: ["END"],
      stream: true,
      seed: 7,
      tool_choice: { type: "function", function: { name: "refund" } },
      max_completion_tokens: 64,
      reasoning_effort: "low",
    };
    expect(asked(openai, { ls_provider: "openai" }, chatOpenAI)).toEqual({
      provider: "openai",
      parameters: {
        temperature: 0.1,
        top_p: 0.9,
        frequency_penalty: 0.5,
        presence_penalty: 0.25,
        choice_count: 2,
        stop_sequences: ["END"],
        stream: true,
        seed: 7,
        tool_choice: "refund",
        max_tokens: 64,
        reasoning_effort: "low",
      },
    });
    const anthropic = {
      max_tokens: 512,
      top_k: 5,
      stop_sequences: ["x"],
      tool_choice: { type: "auto" },
    };
    expect(asked(anthropic, { ls_provider: "anthropic" })).toEqual({
      provider: "anthropic",
      parameters: { max_tokens: 512, top_k: 5, stop_sequences: ["x"], tool_choice: "auto" },
    });
    const generationConfig = {
      temperature: 0.5,
      topP: 0.8,
      topK: 40,
      maxOutputTokens: 9,
      stopSequences: ["y"],
    };
    expect(asked({ generationConfig }, { ls_provider: "google_genai" })).toEqual({
      provider: "gcp.gemini",
      parameters: { temperature: 0.5, top_p: 0.8, top_k: 40, max_tokens: 9, stop_sequences: ["y"] },
    });
  });

  it("is what LangChain says to tracers, where the call's own parameters do not", () => {
    const metadata = { ls_temperature: 0.7, ls_max_tokens: 10, ls_stop: ["z"] };
    expect(requestOf(undefined, undefined, metadata)).toEqual({
      parameters: { temperature: 0.7, max_tokens: 10, stop_sequences: ["z"] },
    });
    expect(requestOf(undefined, undefined, undefined)).toEqual({});
  });

  it("has the server of the client's configuration, and nothing else of its URL", () => {
    const server = { server_address: "llm.acme.test", server_port: 8443 };
    const url = "https://user:secret@llm.acme.test:8443/v1?key=k";
    for (const kwargs of [
      { configuration: { baseURL: url } },
      { base_url: url },
      { anthropic_api_url: url },
    ]) {
      expect(asked({}, {}, { kwargs })).toEqual(server);
    }
    const secret = { lc: 1, type: "secret", id: ["URL"] };
    expect(asked({}, {}, { kwargs: { base_url: secret } })).toEqual({});
  });

  it.each([
    ["FakeListChatModel", "FakeListChatModel", undefined],
    ["Bot", "ChatBot", undefined],
    ["Cohere", "ChatCohere", "cohere"],
    ["MistralAI", "ChatMistralAI", "mistral_ai"],
    ["openai", "ChatOpenAI", "openai"],
    ["my_gateway", "ChatOpenAI", "my_gateway"],
  ])("never takes a class for a provider: %s of %s", (ls_provider, model, provider) => {
    expect(asked({}, { ls_provider }, { id: ["langchain", model] }).provider).toBe(provider);
  });
});

/** The events of a model call that asks for a tool, and of the tool, each called alone in a chain. */
function played(price?: Price, tool: object = { id: ["langchain", "tools", "DynamicTool"] }) {
  const sink = new CaptureSink();
  const handler = new LangChainHandler({
    sink,
    tenant: "acme",
    ...(price === undefined ? {} : { price }),
  });
  const tools = [{ type: "function", function: { name: "refund", description: "Pays back." } }];
  const extra = { invocation_params: { temperature: 0, tools } };
  void handler.handleChainStart(
    { id: ["x", "Chain"] },
    {},
    "r1",
    undefined,
    [],
    {},
    "chain",
    "support",
  );
  const metadata = { ls_provider: "openai", ls_model_name: "gpt-5" };
  handler.handleChatModelStart(chatOpenAI, [[]], "m1", "r1", extra, [], metadata);
  const message = {
    response_metadata: { model_name: "gpt-5-2026" },
    usage_metadata: {
      input_tokens: 10,
      output_tokens: 2,
      input_token_details: { cache_read: 4, cache_creation: 1 },
    },
  };
  handler.handleLLMEnd({ generations: [[{ message }]] }, "m1", "r1");
  handler.handleToolStart(tool, "{}", "t1", "r1", [], {}, "refund", "call_1");
  handler.handleToolEnd("done", "t1");
  handler.handleChainEnd({}, "r1");
  const sent = (type: string) => sink.items.find(({ event }) => event.type === type);
  return { sent, handler };
}

describe("the events of a model call", () => {
  it("have its parameters, no cost, and the cached tokens in the run's sum", () => {
    const { sent } = played();
    expect(sent("model_start")?.event).toMatchObject({
      provider: "openai",
      parameters: { temperature: 0 },
    });
    expect(sent("model_complete")?.event).not.toHaveProperty("cost_usd");
    expect(sent("complete")?.event).toHaveProperty("usage", {
      requests: 1,
      input_tokens: 10,
      output_tokens: 2,
      tool_calls: 1,
      cache_read_input_tokens: 4,
      cache_write_input_tokens: 1,
    });
  });

  it("have the cost that the price hook gives", () => {
    const asks: PricedCall[] = [];
    const { sent } = played((call) => {
      asks.push(call);
      return "0.0031";
    });
    expect(asks).toHaveLength(1);
    expect(asks[0]).toMatchObject({
      provider: "openai",
      model: "gpt-5",
      responseModel: "gpt-5-2026",
    });
    expect(sent("model_complete")?.event).toHaveProperty("cost_usd", "0.0031");
    expect(sent("complete")?.event).toHaveProperty("usage.cost_usd", "0.0031");
  });

  it("vouch for a cost of zero, and survive a hook that throws", () => {
    const free = played(() => "0");
    expect(free.sent("model_complete")?.envelope?.details?.cost_known).toBe(true);
    expect(free.sent("complete")?.envelope?.details?.cost_known).toBe(true);
    const broken = played(() => {
      throw new Error("no list");
    });
    expect(broken.sent("complete")?.event).not.toHaveProperty("usage.cost_usd");
    expect(broken.handler.counts.faults).toBe(0);
  });

  it("say what a tool is for: by its own word, else by what the model was told", () => {
    const description = (tool?: object) =>
      played(undefined, tool).sent("tool_start")?.envelope?.details?.tool_description;
    expect(description()).toBe("Pays back.");
    expect(description({ kwargs: { description: "Its own." } })).toBe("Its own.");
  });
});
