import { describe, expect, it } from "vitest";
import { OpenAIAgentsProcessor } from "../../../src/agents/openai-agents/openai-agents-processor.ts";
import type { SdkSpan, SdkSpanData } from "../../../src/agents/openai-agents/sdk.ts";
import { answerIn } from "../../../src/agents/openai-agents/span-answer.ts";
import { requestedModel, requestIn } from "../../../src/agents/openai-agents/span-request.ts";
import type { Price, PricedCall } from "../../../src/agents/runtime/price.ts";
import { CaptureSink } from "../../../src/entries/sinks.ts";

/** What the SDK's Chat Completions model writes. */
const CHAT: SdkSpanData = {
  type: "generation",
  model: "gpt-5-mini",
  model_config: {
    temperature: 0.2,
    top_p: undefined,
    frequency_penalty: 0.5,
    presence_penalty: undefined,
    reasoning_effort: "low",
    verbosity: "high",
  },
};

/** What the models of `@openai/agents-extensions` write. */
const aisdk = (provider: string, model: string): SdkSpanData => ({
  type: "generation",
  model: `${provider}:${model}`,
  model_config: { provider, model_impl: "ai-sdk" },
});

describe("what a span says of a request", () => {
  it("has the server of each of many URLs, again and again", () => {
    const of = (n: number) =>
      requestIn({ ...CHAT, model_config: { base_url: `http://host-${n % 100}:${n % 100}/v1` } });
    for (let n = 1; n < 300; n++) {
      if (n % 100 === 0) continue;
      expect(of(n)).toMatchObject({ server_address: `host-${n % 100}`, server_port: n % 100 });
    }
    expect(requestIn({ ...CHAT, model_config: { base_url: "http://" } })).not.toHaveProperty(
      "server_address",
    );
  });

  it("is OpenAI's, with parameters and server, of the SDK's own models", () => {
    expect(requestIn(CHAT)).toEqual({
      provider: "openai",
      parameters: { temperature: 0.2, frequency_penalty: 0.5, reasoning_effort: "low" },
    });
    const local = { ...CHAT, model_config: { base_url: "http://localhost:11434/v1" } };
    expect(requestIn(local)).toEqual({
      provider: "openai",
      server_address: "localhost",
      server_port: 11434,
    });
    const _response = {
      model: "gpt-5-mini-2026",
      temperature: 1,
      top_p: 0.9,
      max_output_tokens: 300,
      tool_choice: { type: "function", name: "refund" },
      reasoning: { effort: "high" },
    };
    expect(requestIn({ type: "response", _response })).toEqual({
      provider: "openai",
      parameters: {
        temperature: 1,
        top_p: 0.9,
        max_tokens: 300,
        tool_choice: "refund",
        reasoning_effort: "high",
      },
    });
    expect(requestIn({ type: "response" })).toEqual({ provider: "openai" });
  });

  it.each([
    ["openai.responses", "gpt-5", "openai"],
    ["anthropic.messages", "claude-sonnet", "anthropic"],
    ["google.generative-ai", "gemini", "gcp.gemini"],
    ["google.vertex.chat", "gemini", "gcp.vertex_ai"],
    ["amazon-bedrock", "us.anthropic.claude:0", "aws.bedrock"],
    ["azure.chat", "gpt-5", "azure.ai.openai"],
    ["mistral.chat", "small", "mistral_ai"],
    ["groq.chat", "llama", "groq"],
  ])("names the provider of aisdk models: %s", (given, model, provider) => {
    const data = aisdk(given, model);
    expect(requestIn(data)).toEqual({ provider });
    expect(requestedModel(data)).toBe(model);
  });

  it("is nothing where a model of somebody else says nothing", () => {
    const other = { type: "generation", model: "mine", model_config: { mode: "x" } };
    expect(requestIn(other)).toEqual({});
    expect(requestIn({ type: "generation" })).toEqual({});
    expect(requestedModel(other)).toBe("mine");
  });
});

const TRACE = "trace_0123456789abcdef0123456789abcdef";
const at = (second: number) => `2026-05-01T10:00:0${second}.000Z`;

/** A span of the SDK that ends after a second. */
function spanOf(spanId: string, parentId: string | null, spanData: SdkSpanData): SdkSpan {
  return {
    spanId,
    parentId,
    traceId: TRACE,
    spanData,
    error: null,
    startedAt: at(0),
    endedAt: at(1),
  };
}

/** The events of an agent that asks the Responses API for one tool call, and makes it. */
async function played(price?: Price) {
  const sink = new CaptureSink();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const options = { sink, onError, tenant: "acme", ...(price === undefined ? {} : { price }) };
  const processor = new OpenAIAgentsProcessor(options);
  const agent = spanOf("span_agent", null, { type: "agent", name: "support" });
  const response: Record<string, unknown> = { type: "response" };
  const model = spanOf("span_model", "span_agent", response as SdkSpanData);
  const tool = spanOf("span_tool", "span_agent", {
    type: "function",
    name: "refund",
    input: "{}",
    output: "done",
  });
  await processor.onTraceStart({ traceId: TRACE, name: "Agent workflow" });
  await processor.onSpanStart(agent);
  await processor.onSpanStart(model);
  response.response_id = "resp_1";
  response._input = "hi";
  response._response = {
    id: "resp_1",
    model: "gpt-5-mini-2026",
    status: "completed",
    temperature: 0.3,
    usage: { input_tokens: 10, output_tokens: 2, input_tokens_details: { cached_tokens: 4 } },
    tools: [{ type: "function", name: "refund", description: "Pays money back." }],
    output: [{ type: "function_call", call_id: "call_1", name: "refund", arguments: "{}" }],
  };
  await processor.onSpanEnd(model);
  await processor.onSpanStart(tool);
  await processor.onSpanEnd(tool);
  await processor.onSpanEnd(agent);
  await processor.onTraceEnd({ traceId: TRACE, name: "Agent workflow" });
  await processor.forceFlush();
  const sent = (type: string) => sink.items.find(({ event }) => event.type === type);
  return { sent, processor, errors };
}

describe("the events of a Responses call", () => {
  it("have the model that answered, also as the requested one, and what the tool is for", async () => {
    const { sent } = await played();
    expect(sent("model_start")?.event).toMatchObject({ provider: "openai", model: null });
    expect(sent("model_complete")?.event).toMatchObject({
      model: "gpt-5-mini-2026",
      response_model: "gpt-5-mini-2026",
      finish_reasons: ["tool_calls"],
      provider: "openai",
      parameters: { temperature: 0.3 },
    });
    expect(sent("tool_start")?.envelope?.details?.tool_description).toBe("Pays money back.");
    expect(sent("model_complete")?.event).not.toHaveProperty("cost_usd");
    expect(sent("complete")?.event).toHaveProperty("usage.cache_read_input_tokens", 4);
    expect(sent("complete")?.event).not.toHaveProperty("usage.cost_usd");
  });

  it("have the cost that the price hook gives", async () => {
    const asked: PricedCall[] = [];
    const { sent } = await played((call) => {
      asked.push(call);
      return 0.1 + 0.2;
    });
    expect(asked).toEqual([
      {
        provider: "openai",
        model: "gpt-5-mini-2026",
        responseModel: "gpt-5-mini-2026",
        usage: expect.objectContaining({ input_tokens: 10, cache_read_input_tokens: 4 }),
      },
    ]);
    expect(sent("model_complete")?.event).toHaveProperty("cost_usd", "0.3");
    expect(sent("complete")?.event).toHaveProperty("usage.cost_usd", "0.3");
    expect(sent("complete")?.envelope?.details?.cost_known).toBeUndefined();
  });

  it("vouch for a cost of zero, and report a hook that fails", async () => {
    const free = await played(() => 0);
    expect(free.sent("model_complete")?.envelope?.details?.cost_known).toBe(true);
    expect(free.sent("complete")?.envelope?.details?.cost_known).toBe(true);
    const broken = await played(() => "free");
    expect(broken.sent("model_complete")?.event).not.toHaveProperty("cost_usd");
    expect(broken.errors).toHaveLength(1);
    expect(broken.processor.counts.faults).toBe(0);
  });
});

describe("the end of an answer", () => {
  const responded = (response: object) => answerIn({ type: "response", _response: response }, true);
  const refuses = [{ type: "message", content: [{ type: "refusal", refusal: "I will not." }] }];

  it.each([
    ["cut", { status: "incomplete", incomplete_details: { reason: "content_filter" } }],
    ["refused", { status: "completed", output: refuses }],
  ])("of the Responses API that is %s", (_, response) => {
    const { finishReasons, output } = responded({ output: [], ...response });
    expect(finishReasons).toEqual([response.status === "completed" ? "refusal" : "content_filter"]);
    for (const { finish_reason } of output ?? []) expect(finish_reason).toBe("content_filter");
  });

  it("of Chat Completions that refuses, behind a gateway that names the provider", () => {
    const message = { role: "assistant", content: null, refusal: "I will not." };
    const answer = {
      model: "claude-x",
      provider: "Anthropic",
      choices: [{ message, finish_reason: "stop" }],
    };
    const model_config = { base_url: "https://gateway.test/v1" };
    const data = { type: "generation", model: "gpt-5", model_config, output: [answer] };
    expect(answerIn(data, true)).toMatchObject({
      provider: "anthropic",
      responseModel: "claude-x",
      finishReasons: ["refusal"],
      output: [{ finish_reason: "content_filter" }],
    });
  });
});
