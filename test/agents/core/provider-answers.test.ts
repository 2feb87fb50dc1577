import { describe, expect, it } from "vitest";
import {
  answeredBy,
  modelIn,
  reasonIn,
  refusesIn,
  routedIn,
  tokensIn,
} from "../../../src/agents/core/door.ts";

describe("who answered", () => {
  it.each([
    // An OpenAI-compatible gateway that answers with another model.
    ["openai", { responseModel: "anthropic/claude-sonnet-4" }, "anthropic"],
    ["openai", { responseModel: "claude-sonnet-4-20250514" }, "anthropic"],
    ["openai", { responseModel: "google/gemini-2.5-pro" }, "gcp.gemini"],
    ["openrouter", { responseModel: "x-ai/grok-4" }, "x_ai"],
    ["openai", { responseModel: "openai/gpt-5", routed: "Azure" }, undefined],
    ["openai", { responseModel: "openai/gpt-oss-120b", routed: "Groq" }, "groq"],
    ["openai", { responseModel: "claude-x", routed: "Amazon Bedrock" }, "aws.bedrock"],
    ["gateway", { responseModel: "x", routed: "vertex" }, "gcp.vertex_ai"],
    // A model that hands the request to another one.
    ["my_router", { responseModel: "claude-x", client: "anthropic" }, "anthropic"],
    ["anthropic", { responseModel: "gpt-5", client: "openai" }, "openai"],
    ["anthropic", { responseModel: "x", client: "google-genai" }, "gcp.gemini"],
    // The one that was asked, however the client says it.
    ["openai", { responseModel: "gpt-5-2026" }, undefined],
    ["openai", { responseModel: "ft:mine" }, undefined],
    ["groq", { responseModel: "openai/gpt-oss-120b", client: "groq" }, undefined],
    ["deepseek", { responseModel: "deepseek-chat", client: "openai" }, undefined],
    ["azure.ai.openai", { responseModel: "gpt-5", client: "openai" }, undefined],
    ["gcp.vertex_ai", { responseModel: "gemini-x", client: "google" }, undefined],
    ["aws.bedrock", { responseModel: "anthropic/claude" }, undefined],
    [undefined, { responseModel: "claude-x" }, undefined],
  ])("is known: asked %s, %o: %s", (asked, names, by) => {
    expect(answeredBy(asked, { ...names })).toBe(by);
  });

  it("is in the data of gateways", () => {
    expect(routedIn({ provider: "Anthropic" })).toBe("Anthropic");
    const routing = { resolvedProvider: "anthropic", finalProvider: "bedrock" };
    expect(routedIn(undefined, { gateway: { routing } })).toBe("bedrock");
    expect(routedIn(undefined, { openrouter: { provider: "Azure" } })).toBe("Azure");
    expect(routedIn(undefined, undefined)).toBeUndefined();
  });
});

describe("the end of an answer", () => {
  it.each([
    [{ finish_reason: "length" }, {}, "length"],
    [{ stop_reason: "max_tokens" }, {}, "max_tokens"],
    [{ stopReason: "guardrail_intervened" }, {}, "guardrail_intervened"],
    [{ finishReason: "SAFETY" }, {}, "SAFETY"],
    [{ done_reason: "load" }, {}, "load"],
    [
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      {},
      "max_output_tokens",
    ],
    [{ status: "incomplete", incomplete_details: null }, {}, "incomplete"],
    [{ status: "completed" }, {}, "stop"],
    [{ status: "completed" }, { asks: true }, "tool_calls"],
    [{ status: "completed" }, { refuses: true }, "refusal"],
    [{ finish_reason: "stop" }, { refuses: true }, "refusal"],
    [{ finish_reason: "length" }, { refuses: true }, "length"],
    [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, {}, "PROHIBITED_CONTENT"],
    [{ status: "queued" }, {}, undefined],
    [undefined, {}, undefined],
  ])("of %o, %o is %s", (source, answer, reason) => {
    expect(reasonIn([undefined, source], answer)).toBe(reason);
  });

  it("is a refusal where a part says so", () => {
    expect(refusesIn([{ type: "message", content: [{ type: "refusal", refusal: "no" }] }])).toBe(
      true,
    );
    expect(refusesIn([{ type: "message", content: [{ type: "output_text" }] }])).toBe(false);
    expect(refusesIn("no")).toBe(false);
    expect(modelIn([undefined, { model: "m" }, { model_name: "n" }])).toBe("m");
  });
});

describe("the tokens of an answer", () => {
  const all = {
    input_tokens: 100,
    output_tokens: 20,
    cache_read_input_tokens: 60,
    cache_write_input_tokens: 30,
    reasoning_output_tokens: 5,
  };
  const noWrite = { ...all, cache_write_input_tokens: null };
  const tokens = { input_tokens: 100, output_tokens: 20 };

  it.each([
    [
      "Chat Completions",
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      noWrite,
    ],
    [
      "Responses",
      {
        ...tokens,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens_details: { reasoning_tokens: 5 },
      },
      noWrite,
    ],
    [
      "Anthropic",
      {
        input_tokens: 10,
        output_tokens: 20,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
      },
      { ...all, reasoning_output_tokens: null },
    ],
    [
      "LangChain",
      {
        ...tokens,
        input_token_details: { cache_read: 60, cache_creation: 30 },
        output_token_details: { reasoning: 5 },
      },
      all,
    ],
    [
      "the AI SDK",
      {
        inputTokens: 100,
        outputTokens: 20,
        inputTokenDetails: { cacheReadTokens: 60, cacheWriteTokens: 30 },
        outputTokenDetails: { reasoningTokens: 5 },
      },
      all,
    ],
    [
      "the AI SDK's models",
      {
        inputTokens: { total: 100, cacheRead: 60, cacheWrite: 30 },
        outputTokens: { total: 20, reasoning: 5 },
      },
      all,
    ],
    [
      "Mastra's spans",
      {
        inputTokens: 100,
        outputTokens: 20,
        inputDetails: { cacheRead: 60, cacheWrite: 30 },
        outputDetails: { reasoning: 5 },
      },
      all,
    ],
    [
      "Mastra's streams",
      {
        inputTokens: 100,
        outputTokens: 20,
        cachedInputTokens: 60,
        cacheCreationInputTokens: 30,
        reasoningTokens: 5,
      },
      all,
    ],
  ])("are read from %s", (_, given, usage) => {
    expect(tokensIn(given)).toEqual(usage);
  });

  it("are unknown where neither input nor output is", () => {
    for (const given of [undefined, {}, "x", { inputTokens: -1 }, { total_tokens: 3 }]) {
      expect(tokensIn(given)).toBeUndefined();
    }
  });
});
