import type { Attributes } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { openInferenceOf } from "../../../src/bridge/spans/openinference/mapping.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const text = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
const QUESTION = [text("user", "Refund order 17.")];
const CALL = { type: "tool_call", id: "call_1", name: "look_up", arguments: { order: 17 } };
const FOUND = { type: "tool_call_response", id: "call_1", response: { state: "delivered" } };
const TOOL = { type: "function", name: "look_up", parameters: {} };

/** The attributes of each span of one run with a model call, a tool call, a step and a retrieval. */
function spansOf(options: TelemetryOptions): ReadonlyMap<string, Attributes> {
  const test = bench({ captureContent: true, ...options });
  const details = { user_id: "u-17", tags: ["beta"], metadata: { plan: "pro" } };
  test.at(0, run.started("answers"), {
    thread_id: "th-1",
    details: { ...details, input: QUESTION },
  });
  test.at(1, run.modelStart("m1", { provider: "aws.bedrock", parameters: { temperature: 0.2 } }));
  const asked = [
    ...QUESTION,
    { role: "assistant", parts: [CALL] },
    { role: "tool", parts: [FOUND] },
  ];
  test.at(
    2,
    run.modelComplete("m1", {
      response_model: "small-1-2026",
      input: asked,
      output: [text("assistant", "It is refunded.")],
      system_instructions: "Be kind.",
      tools: [TOOL],
      finish_reasons: ["stop"],
      cost_usd: "0.25",
      usage: {
        input_tokens: 31,
        output_tokens: 7,
        cache_read_input_tokens: 20,
        cache_write_input_tokens: 4,
        reasoning_output_tokens: 3,
      },
    }),
  );
  test.at(3, run.toolStart("call_1", "look_up", { order: 17 }));
  test.at(4, run.toolComplete("call_1", "look_up", 1000, { state: "delivered" }));
  test.at(5, run.stepStart("s1", { step: "find", kind: "retrieval", input: "refunds" }));
  const documents = [{ pageContent: "Rules of refunds", metadata: { page: 3 } }];
  test.at(6, run.stepComplete("s1", { output: documents }));
  test.at(7, run.stepStart("s2", { step: "plan" }));
  test.at(8, run.stepComplete("s2"));
  const answer = [text("assistant", "It is refunded.")];
  test.at(9, run.complete(), { details: { output: answer } });
  return new Map(test.spans().map(({ attributes, name }) => [name, attributes]));
}

const RUN = {
  "openinference.span.kind": "AGENT",
  "input.value": "Refund order 17.",
  "input.mime_type": "text/plain",
  "output.value": "It is refunded.",
  "output.mime_type": "text/plain",
  "agent.name": "answers",
  "session.id": "th-1",
  "user.id": "u-17",
  "tag.tags": ["beta"],
  metadata: '{"plan":"pro"}',
};
const MODEL = {
  "openinference.span.kind": "LLM",
  "llm.model_name": "small-1-2026",
  "llm.request.model_name": "small-1",
  "llm.response.model_name": "small-1-2026",
  "llm.provider": "aws",
  "llm.system": "aws.bedrock",
  "llm.invocation_parameters": '{"temperature":0.2}',
  "llm.finish_reason": "stop",
  "llm.token_count.prompt": 31,
  "llm.token_count.completion": 7,
  "llm.token_count.total": 38,
  "llm.token_count.prompt_details.cache_read": 20,
  "llm.token_count.prompt_details.cache_write": 4,
  "llm.token_count.completion_details.reasoning": 3,
  "llm.cost.total": 0.25,
  "llm.input_messages.0.message.role": "system",
  "llm.input_messages.0.message.content": "Be kind.",
  "llm.input_messages.1.message.role": "user",
  "llm.input_messages.1.message.content": "Refund order 17.",
  "llm.input_messages.2.message.role": "assistant",
  "llm.input_messages.2.message.tool_calls.0.tool_call.id": "call_1",
  "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "look_up",
  "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"order":17}',
  "llm.input_messages.3.message.role": "tool",
  "llm.input_messages.3.message.tool_call_id": "call_1",
  "llm.input_messages.3.message.content": '{"state":"delivered"}',
  "llm.output_messages.0.message.role": "assistant",
  "llm.output_messages.0.message.content": "It is refunded.",
  "input.mime_type": "application/json",
  "session.id": "th-1",
  "user.id": "u-17",
};

describe("the option conventions", () => {
  it.each(["both", "openinference"] as const)(
    "%s: spans have OpenInference's names",
    (conventions) => {
      const spans = spansOf({ conventions });
      expect(spans.get("invoke_agent answers")).toMatchObject(RUN);
      const model = spans.get("chat small-1");
      expect(model).toMatchObject(MODEL);
      const asked: unknown = JSON.parse(String(model?.["input.value"]));
      expect(asked).toMatchObject([
        { role: "system", parts: [{ type: "text", content: "Be kind." }] },
        { role: "user" },
        { role: "assistant" },
        { role: "tool" },
      ]);
      expect(JSON.parse(String(model?.["llm.tools.0.tool.json_schema"]))).toMatchObject(TOOL);
      expect(spans.get("execute_tool look_up")).toMatchObject({
        "openinference.span.kind": "TOOL",
        "tool.name": "look_up",
        "tool.id": "call_1",
        "input.value": '{"order":17}',
        "output.value": '{"state":"delivered"}',
        "session.id": "th-1",
      });
      expect(spans.get("retrieval find")).toMatchObject({
        "openinference.span.kind": "RETRIEVER",
        "input.value": "refunds",
        "input.mime_type": "text/plain",
        "retrieval.documents.0.document.content": "Rules of refunds",
        "retrieval.documents.0.document.metadata": '{"page":3}',
      });
      expect(spans.get("step plan")).toMatchObject({
        "openinference.span.kind": "CHAIN",
        "graph.node.id": "plan",
      });
    },
  );

  it("genai, the default: no name of OpenInference, and the session on no span", () => {
    const names = [...spansOf({}).values()].flatMap((attributes) => Object.keys(attributes));
    const theirs = /^(?:openinference|input|output|llm|tool|session|agent|graph|tag|metadata)\b/;
    expect(names.filter((name) => theirs.test(name))).toEqual([]);
  });

  it("both: the conventions' names are the same as without the option", () => {
    const plain = spansOf({ subjectOnAllSpans: true });
    for (const [name, attributes] of spansOf({ conventions: "both" })) {
      expect(attributes).toMatchObject(plain.get(name) ?? { missing: name });
    }
  });

  it("openinference: a gen_ai name is left only where OpenInference has none for it", () => {
    const left = [...spansOf({ conventions: "openinference" })].flatMap(([span, attributes]) =>
      Object.keys(attributes)
        .filter((name) => name.startsWith("gen_ai."))
        .map((name) => `${span}: ${name}`),
    );
    expect(left).toEqual([]);
    const paused = bench({ conventions: "openinference" });
    paused.at(0, run.started());
    paused.at(1, run.modelComplete("m1", { response_id: "r-1", first_output_ms: 50 }));
    const usage = { requests: 1, input_tokens: 9, output_tokens: 1, tool_calls: 0, cost_usd: "1" };
    paused.at(2, run.complete({ usage }));
    // Phoenix would add up a run's tokens and those of its model calls.
    expect(paused.find("invoke_agent react").attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 9,
    });
    expect(paused.find("invoke_agent react").attributes).not.toHaveProperty(
      "llm.token_count.prompt",
    );
    expect(paused.find("chat small-1").attributes).toMatchObject({
      "gen_ai.response.id": "r-1",
      "gen_ai.response.time_to_first_chunk": 0.05,
    });
  });

  it.each(["both", "openinference"] as const)(
    "%s: no content without content capture",
    (conventions) => {
      const spans = spansOf({ conventions, captureContent: false });
      const all = JSON.stringify([...spans.values()]);
      for (const secret of ["Refund", "refund", "Be kind", "delivered", "order"]) {
        expect(all).not.toContain(secret);
      }
      expect(spans.get("chat small-1")).toMatchObject({ "llm.token_count.prompt": 31 });
    },
  );

  it("passes the redaction hook's values on, and no other", () => {
    const spans = spansOf({ conventions: "both", redact: () => "[hidden]" });
    expect(JSON.stringify([...spans.values()])).not.toContain("Refund");
    expect(spans.get("execute_tool look_up")).toMatchObject({ "input.value": "[hidden]" });
  });

  it("starts spans with their kind, for samplers, and without names that are left out", () => {
    const seen: Attributes[] = [];
    const test = bench(
      { conventions: "openinference" },
      {
        sampler: {
          shouldSample: (_context, _trace, _name, _kind, attributes) => {
            seen.push({ ...attributes });
            return { decision: 2 };
          },
          toString: () => "seen",
        },
      },
    );
    test.at(0, run.started());
    test.at(1, run.complete());
    expect(seen[0]).toMatchObject({ "openinference.span.kind": "AGENT" });
    expect(seen[0]).not.toHaveProperty("gen_ai.operation.name");
  });
});

describe("the mapping of a long conversation", () => {
  const messages = Array.from({ length: 200 }, (_, n) =>
    text(n % 2 ? "assistant" : "user", `m${n}`),
  );
  const finished: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: "Be kind." }]),
    "gen_ai.input.messages": JSON.stringify(messages),
  };

  it("has the newest messages as attributes, within the SDK's limit, and all in the value", () => {
    const { attributes } = openInferenceOf(finished);
    const names = Object.keys(attributes);
    expect(names.length + Object.keys(finished).length).toBeLessThanOrEqual(120);
    const last = names
      .filter((name) => /^llm\.input_messages\.\d+\.message\.content$/.test(name))
      .at(-1);
    expect(attributes[last ?? ""]).toBe("m199");
    expect(attributes["llm.input_messages.0.message.content"]).toBe("Be kind.");
    const all: unknown = JSON.parse(String(attributes["input.value"]));
    expect(all).toEqual([text("system", "Be kind."), ...messages]);
  });

  it.each([
    ["no JSON", "[{"],
    ["no list", "{}"],
    ["a list of other values", '[1,null,"x",{"role":3,"parts":[null,{"type":"text"}]},[]]'],
    ["a message without parts", '[{"role":"user"}]'],
  ])("takes %s as a value without messages", (_, given) => {
    const { attributes } = openInferenceOf({ ...finished, "gen_ai.input.messages": given });
    expect(attributes["input.value"]).toBe(given);
    expect(Object.values(attributes)).not.toContain(undefined);
  });
});

describe("the mapping of a message", () => {
  const mapped = (...messages: readonly object[]) =>
    openInferenceOf({
      "gen_ai.operation.name": "chat",
      "gen_ai.input.messages": JSON.stringify(messages),
    }).attributes;
  const IMAGE = { type: "blob", modality: "image", mime_type: "image/png", content: "iVBORw0=" };

  it("has images and what a model thought as contents of their own, in order", () => {
    const asked = [
      { type: "text", content: "What is this?" },
      IMAGE,
      { type: "uri", modality: "image", uri: "https://shop.example/17.png" },
    ];
    const thought = [
      { type: "reasoning", content: "It looks like a receipt." },
      { type: "text", content: "A receipt." },
    ];
    const first = "llm.input_messages.0.message";
    const second = "llm.input_messages.1.message";
    const content = (message: string, at: number) => `${message}.contents.${at}.message_content`;
    const attributes = mapped(
      { role: "user", parts: asked },
      { role: "assistant", parts: thought },
    );
    expect(attributes).toMatchObject({
      [`${first}.role`]: "user",
      [`${content(first, 0)}.type`]: "text",
      [`${content(first, 0)}.text`]: "What is this?",
      [`${content(first, 1)}.type`]: "image",
      [`${content(first, 1)}.image.image.url`]: "data:image/png;base64,iVBORw0=",
      [`${content(first, 2)}.image.image.url`]: "https://shop.example/17.png",
      [`${content(second, 0)}.type`]: "reasoning",
      [`${content(second, 0)}.text`]: "It looks like a receipt.",
      [`${content(second, 1)}.text`]: "A receipt.",
    });
    expect(attributes).not.toHaveProperty([`${first}.content`]);
  });

  it("has no image that was shortened", () => {
    const cut = { ...IMAGE, content: "iVBORw0… [9 bytes]" };
    const names = Object.keys(mapped({ role: "user", parts: [cut] }));
    expect(names.filter((name) => name.includes("contents"))).toEqual([]);
  });

  it("has the results of several tools as messages of their own, each with its call", () => {
    const results = [17, 18].map((order) => ({
      type: "tool_call_response",
      id: `call_${order}`,
      response: { order },
    }));
    expect(mapped({ role: "tool", parts: results })).toMatchObject({
      "llm.input_messages.0.message.role": "tool",
      "llm.input_messages.0.message.tool_call_id": "call_17",
      "llm.input_messages.0.message.content": '{"order":17}',
      "llm.input_messages.1.message.role": "tool",
      "llm.input_messages.1.message.tool_call_id": "call_18",
      "llm.input_messages.1.message.content": '{"order":18}',
    });
  });
});

it("a call for embeddings has its texts and parameters under the names of embeddings", () => {
  const { attributes } = openInferenceOf({
    "gen_ai.operation.name": "embeddings",
    "gen_ai.request.model": "small-1",
    "gen_ai.request.encoding_formats": ["float"],
    "gen_ai.input.messages": JSON.stringify([text("user", "order 17"), text("user", "order 18")]),
  });
  expect(attributes).toMatchObject({
    "openinference.span.kind": "EMBEDDING",
    "embedding.model_name": "small-1",
    "embedding.invocation_parameters": '{"encoding_formats":["float"]}',
    "embedding.embeddings.0.embedding.text": "order 17",
    "embedding.embeddings.1.embedding.text": "order 18",
  });
});

it("a span that already has too many attributes gets no more than the whole values", () => {
  const many = Array.from({ length: 200 }, (_, n) => [`shop.${n}`, n]);
  const { attributes } = openInferenceOf({
    ...Object.fromEntries(many),
    "gen_ai.operation.name": "chat",
    "gen_ai.tool.definitions": JSON.stringify(Array(100).fill(TOOL)),
  });
  expect(Object.keys(attributes).filter((name) => name.startsWith("llm.tools"))).toEqual([]);
});
