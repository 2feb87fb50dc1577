import { describe, expect, it } from "vitest";
import { answerOf } from "../../../src/agents/langchain/llm-result.ts";

const answer = (message: object, asked?: string) =>
  answerOf(
    { generations: [[{ text: "x", message: { type: "ai", ...message } }]] },
    asked,
    false,
    true,
  );

describe("an answer of LangChain", () => {
  it("has the end that the Responses API says", () => {
    const status = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(answer({ content: "x", response_metadata: status })).toMatchObject({
      finishReasons: ["max_output_tokens"],
      output: [{ finish_reason: "length" }],
    });
    const response_metadata = { status: "completed", model_name: "gpt-5" };
    expect(answer({ content: "x", response_metadata }).finishReasons).toEqual(["stop"]);
    const tool_calls = [{ id: "c", name: "n", args: {} }];
    const asks = answer({ content: "", tool_calls, response_metadata });
    expect(asks.finishReasons).toEqual(["tool_calls"]);
  });

  it("is a refusal where the message says so", () => {
    const refuses = answer({
      content: "",
      additional_kwargs: { refusal: "I will not." },
      response_metadata: { finish_reason: "stop" },
    });
    expect(refuses).toMatchObject({
      finishReasons: ["refusal"],
      output: [
        { parts: [{ type: "text", content: "I will not." }], finish_reason: "content_filter" },
      ],
    });
  });

  it("has the thoughts and the provider's own calls, which stand beside its content", () => {
    const tool_outputs = [{ type: "web_search_call", id: "ws1", status: "completed" }];
    const additional_kwargs = { reasoning_content: "hm", tool_outputs };
    const parts = answer({ content: "so", additional_kwargs }).output?.[0]?.parts;
    expect(parts).toMatchObject([
      { type: "reasoning", content: "hm" },
      { type: "server_tool_call", id: "ws1", name: "web_search" },
      { type: "text", content: "so" },
    ]);
  });

  it("names who answered, behind a gateway or another model", () => {
    const by = (response_metadata: object, asked: string, more: object = {}) =>
      answer({ content: "x", response_metadata, ...more }, asked).provider;
    expect(by({ model_name: "anthropic/claude-x", model_provider: "openai" }, "openai")).toBe(
      "anthropic",
    );
    expect(by({ model: "claude-x", model_provider: "anthropic" }, "my-router")).toBe("anthropic");
    const raw = { additional_kwargs: { __raw_response: { provider: "Groq" } } };
    expect(by({ model_name: "llama" }, "openai", raw)).toBe("groq");
    expect(by({ model_name: "gpt-5", model_provider: "openai" }, "azure.ai.openai")).toBe(
      undefined,
    );
  });
});
