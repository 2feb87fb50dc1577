import { AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { FakeListChatModel, FakeStreamingLLM } from "@langchain/core/utils/testing";
import { describe, expect, it } from "vitest";
import type { Fields } from "../../../src/agents/core/narrow.ts";
import { tellsCallIds } from "./abilities.ts";
import { add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe("a model call", () => {
  it("says what was asked, what answered, and what it used", async () => {
    const seen = observe();
    await run(seen, reactAgent([says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")], [add]));
    const [start] = seen.of("model_start");
    const [end] = seen.of("model_complete");
    expect(start?.event).toMatchObject({ model: "small-1", provider: "acme" });
    expect(end?.event).toMatchObject({
      model_call_id: start?.event.model_call_id,
      model: "small-1",
      response_model: "small-1-2026",
      response_id: expect.stringMatching(/^resp-/),
      finish_reasons: ["tool_calls"],
      first_output_ms: null,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 2,
        cache_write_input_tokens: 1,
        reasoning_output_tokens: 3,
      },
    });
    expect(seen.spans().find(({ name }) => name === "chat small-1")?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "acme",
      "gen_ai.request.model": "small-1",
      "gen_ai.response.model": "small-1-2026",
      "gen_ai.response.id": end?.event.response_id,
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
    });
  });

  it("has its messages in the form of the conventions", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("done")]);
    await model.invoke(
      [
        new SystemMessage("be brief"),
        new HumanMessage({
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          ],
        }),
        says("", ["add", "call_1", { a: 1, b: 2 }]),
        new ToolMessage({ content: "3", tool_call_id: "call_1" }),
      ],
      { callbacks: [seen.handler] },
    );
    expect(seen.of("model_start")[0]?.event.input).toEqual([
      { role: "system", parts: [{ type: "text", content: "be brief" }] },
      {
        role: "user",
        parts: [
          { type: "text", content: "look" },
          { type: "uri", modality: "image", uri: "https://example.com/a.png" },
        ],
      },
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "call_1", name: "add", arguments: { a: 1, b: 2 } }],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "3" }] },
    ]);
    expect(seen.of("model_complete")[0]?.event.output).toEqual([
      {
        role: "assistant",
        parts: [{ type: "text", content: "done" }],
        finish_reason: "stop",
      },
    ]);
  });

  it.each([
    [
      "OpenAI",
      { generationInfo: { finish_reason: "stop", model_name: "gpt-5-2026" } },
      { model_provider: "openai" },
      {},
      ["stop", "gpt-5-2026"],
    ],
    [
      "Anthropic",
      { generationInfo: {} },
      { model_provider: "anthropic" },
      { id: "msg_1", model: "claude-2026", stop_reason: "max_tokens" },
      ["max_tokens", "claude-2026"],
    ],
    [
      "Bedrock",
      {},
      { messageStart: { role: "assistant" }, messageStop: { stopReason: "tool_use" } },
      {},
      ["tool_use", null],
    ],
    [
      "Gemini",
      { generationInfo: { index: 0, finishReason: "SAFETY" } },
      { model_provider: "google-genai" },
      {},
      ["SAFETY", null],
    ],
  ])(
    "has the attributes that a stream of %s's leaves apart",
    (_, generation, metadata, kwargs, attributes) => {
      const seen = observe();
      const [serialized, id] = [
        { id: ["langchain", "ChatModel"] },
        "01a1fff2-939e-74eb-b277-baac429ca2c7",
      ];
      seen.handler.handleChatModelStart(serialized, [[new HumanMessage("hi")]], id);
      const message = new AIMessageChunk({
        content: "hello",
        response_metadata: metadata,
        additional_kwargs: kwargs,
      });
      seen.handler.handleLLMEnd({ generations: [[{ text: "hello", message, ...generation }]] }, id);
      const event = seen.of("model_complete")[0]?.event;
      expect([event?.finish_reasons?.[0], event?.response_model]).toEqual(attributes);
    },
  );

  it("of a model that says nothing of itself has its class as name, and no usage", async () => {
    const seen = observe();
    const model = new FakeListChatModel({ responses: ["hello"] });
    const graph = oneNodeGraph("shy", async ({ messages }) => ({
      messages: [await model.invoke(messages)],
    }));
    await run(seen, graph);
    expect(seen.of("model_complete")[0]?.event).toMatchObject({
      model: "FakeListChatModel",
      usage: null,
      response_model: null,
      finish_reasons: null,
    });
    expect(seen.of("complete")[0]?.event.usage).toBe(null);
  });

  it("of a model without a name has none in minified code, and no provider", async () => {
    class NSe extends FakeListChatModel {}
    const seen = observe();
    const model = new NSe({ responses: ["hello"] });
    await run(seen, model, "hi");
    const event = seen.of("model_complete")[0]?.event;
    expect([event?.model, event?.provider]).toEqual([null, undefined]);
    expect(seen.of("started")[0]?.event.agent).toBe("model");
  });

  it("of a model that completes text is a model call as well", async () => {
    const seen = observe();
    const model = new FakeStreamingLLM({ responses: ["hello"] });
    for await (const _ of await model.stream("say", { callbacks: [seen.handler] }));
    expect(seen.tree()).toEqual([
      "invoke_agent FakeStreamingLLM complete",
      "  chat FakeStreamingLLM complete",
    ]);
    expect(seen.of("model_start")[0]?.event.input).toEqual([
      { role: "user", parts: [{ type: "text", content: "say" }] },
    ]);
    expect(seen.of("model_complete")[0]?.event.output).toEqual([
      {
        role: "assistant",
        parts: [{ type: "text", content: "hello" }],
        finish_reason: "unknown",
      },
    ]);
  });

  it("answered from LangChain's cache used nothing", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("hello")], { cache: true });
    const config = { callbacks: [seen.handler] };
    await model.invoke("the same question", config);
    await model.invoke("the same question", config);
    const usage = seen.of("model_complete").map(({ event }) => event.usage?.input_tokens);
    expect(usage).toEqual([10, undefined]);
  });
});

describe("usage", () => {
  it("is counted once: a root run has the sum of its tree's model calls", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("found")]);
    const inner = oneNodeGraph("researcher", async ({ messages }) => ({
      messages: [await model.invoke(messages)],
    }));
    const ask = plainTool("ask", (config) => inner.invoke({ messages: [] }, config));
    await run(seen, reactAgent([says("", ["ask", "call_1"]), says("done")], [ask]));
    const of = (name: string) =>
      seen
        .spans()
        .filter((span) => span.name.startsWith(name))
        .map(({ attributes }: { attributes: Fields }) => attributes["gen_ai.usage.input_tokens"]);
    expect(of("chat")).toEqual([10, 10, 10]);
    expect(of("invoke_agent researcher")).toEqual([undefined]);
    expect(of("invoke_agent support")).toEqual([30]);
    const [researcher, support] = seen.of("complete");
    expect(researcher?.event.usage).toBe(null);
    expect(support?.event.usage).toEqual({
      requests: 3,
      input_tokens: 30,
      output_tokens: 15,
      tool_calls: 1,
      cache_read_input_tokens: 6,
      cache_write_input_tokens: 3,
    });
  });
});

describe("a tool call", () => {
  it("has the id that the model gave it, else LangChain's of the run", async () => {
    const seen = observe();
    const asks = says("", ["add", "call_1", { a: 1, b: 2 }], ["add", "call_2", { a: 3, b: 4 }]);
    await run(seen, reactAgent([asks, says("3 and 7")], [add]));
    const started = seen.of("tool_start").map(({ event }) => event.tool_use_id);
    const ended = seen.of("tool_complete").map(({ event }) => event.tool_use_id);
    const ids = tellsCallIds ? ["call_1", "call_2"] : [UUID, UUID];
    expect([started, ended.sort()]).toEqual([ids, [...started].sort()]);
    expect(new Set(started).size).toBe(2);
  });

  it("has its arguments as they were, and its answer without LangChain's message", async () => {
    const seen = observe();
    await run(seen, reactAgent([says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")], [add]));
    expect(seen.of("tool_start")[0]?.event.input).toEqual({ a: 1, b: 2 });
    expect(seen.of("tool_complete")[0]?.event.output).toBe("3");
  });
});
