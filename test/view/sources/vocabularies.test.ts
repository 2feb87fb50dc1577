import { describe, expect, it } from "vitest";
import { attributesOf, messages, otherSpan, shown } from "../support/other-spans.ts";

// Names of the GenAI conventions before version 1.37, as older instrumentations send them.

const CHAT = { "gen_ai.system": "openai", "gen_ai.request.model": "gpt-4o" };

function event(name: string, attributes: Readonly<Record<string, string>>) {
  return { name, timeUnixNano: "1795959321762500000", attributes: attributesOf(attributes) };
}

describe("older names of the GenAI conventions", () => {
  it("shows messages that are spread over attributes", () => {
    const span = otherSpan({
      ...CHAT,
      "llm.request.type": "chat",
      "gen_ai.usage.prompt_tokens": 12,
      "gen_ai.usage.completion_tokens": 3,
      "gen_ai.prompt.10.role": "tool",
      "gen_ai.prompt.10.tool_call_id": "call_1",
      "gen_ai.prompt.10.content": "sent",
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "Where is order 17?",
      "gen_ai.prompt.2.role": "assistant",
      "gen_ai.prompt.2.tool_calls.0.id": "call_1",
      "gen_ai.prompt.2.tool_calls.0.name": "look_up",
      "gen_ai.prompt.2.tool_calls.0.arguments": '{"order":17}',
      "gen_ai.completion.0.content": "On its way.",
      "gen_ai.completion.0.finish_reason": "stop",
      "traceloop.association.properties.thread_id": "thread 1",
    });
    expect(shown(span)).toBe("model gpt-4o 12/3");
    expect(span.vocabulary).toBe("Traceloop");
    expect(span.attributes["gen_ai.conversation.id"]).toBe("thread 1");
    expect(messages(span)).toEqual([
      "input user: Where is order 17?",
      'input assistant: tool_call look_up call_1 {"order":17}',
      "input tool: tool_result  call_1 sent",
      "output assistant: On its way.",
    ]);
  });

  it("shows messages that are events", () => {
    const span = otherSpan(CHAT, {
      events: [
        event("gen_ai.system.message", { content: "You help." }),
        event("gen_ai.user.message", { "gen_ai.event.content": '{"content":"Where?"}' }),
        event("gen_ai.choice", {
          "gen_ai.event.content": '{"index":0,"message":{"content":"There."}}',
        }),
      ],
    });
    expect(messages(span)).toEqual([
      "input system: You help.",
      "input user: Where?",
      "output assistant: There.",
    ]);
  });

  it("shows prompts and completions that are events with one attribute", () => {
    const span = otherSpan(CHAT, {
      events: [
        event("gen_ai.content.prompt", { "gen_ai.prompt": '[{"role":"user","content":"Where?"}]' }),
        event("gen_ai.content.completion", { "gen_ai.completion": "There." }),
      ],
    });
    expect(messages(span)).toEqual(["input user: Where?", "output assistant: There."]);
  });

  it("prefers the present names", () => {
    const span = otherSpan({
      ...CHAT,
      "gen_ai.operation.name": "chat",
      "gen_ai.usage.input_tokens": 5,
      "gen_ai.usage.prompt_tokens": 12,
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"new"}]}]',
      "gen_ai.prompt": "old",
      "gen_ai.usage.cost": 0.25,
    });
    expect(shown(span)).toBe("model gpt-4o 5/undefined $0.25");
    expect(messages(span)).toEqual(["input user: new"]);
  });
});

describe("session and user", () => {
  it.each([
    [{ "session.id": "s-1", "enduser.id": "ada" }],
    [{ "ai.settings.context.sessionId": "s-1", "ai.settings.context.userId": "ada" }],
    [{ "gen_ai.conversation.id": "s-1", "user.id": "ada", "session.id": "s-2" }],
  ])("are read from %j", (names) => {
    const { attributes } = otherSpan({ "gen_ai.operation.name": "invoke_agent", ...names });
    expect(attributes).toMatchObject({ "gen_ai.conversation.id": "s-1", "user.id": "ada" });
  });
});

describe("other values of OpenInference", () => {
  it("shows a retrieval with its documents", () => {
    const { attributes, kind } = otherSpan({
      "openinference.span.kind": "RETRIEVER",
      "input.value": "order 17",
      "retrieval.documents.1.document.content": "second",
      "retrieval.documents.0.document.content": "first",
      "retrieval.documents.0.document.score": 0.5,
    });
    expect(kind).toBe("step");
    expect(attributes["gen_ai.retrieval.query.text"]).toBe("order 17");
    expect(attributes["gen_ai.retrieval.documents"]).toBe(
      '[{"score":0.5,"content":"first"},{"content":"second"}]',
    );
  });

  it("shows contents with several parts, and the sum of the costs", () => {
    const message = "llm.input_messages.0.message";
    const span = otherSpan({
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-4o",
      "llm.cost.prompt": 0.1,
      "llm.cost.completion": 0.2,
      [`${message}.role`]: "user",
      [`${message}.contents.0.message_content.text`]: "What is this?",
      [`${message}.contents.1.message_content.image.image.url`]: "https://example.com/a.png",
    });
    expect(shown(span)).toBe("model gpt-4o $0.3");
    const [shownMessage = ""] = messages(span);
    expect(shownMessage).toMatch(/^input user: What is this\?, data uri .*example\.com\/a\.png/);
  });
});

describe("messages as lists of values", () => {
  it("are shown like their JSON", () => {
    const part = { type: "text", content: "Where is order 17?" };
    const call = {
      type: "tool_call",
      id: "c1",
      name: "look_up",
      arguments: { order: 17, all: [1] },
    };
    const span = otherSpan({
      "gen_ai.operation.name": "chat",
      "gen_ai.system_instructions": [{ type: "text", content: "Be brief." }],
      "gen_ai.input.messages": [{ role: "user", parts: [part] }],
      "gen_ai.output.messages": [{ role: "assistant", parts: [call], finish_reason: "stop" }],
      state: { open: true, none: [] },
    });
    expect(messages(span)).toEqual([
      "instructions system: Be brief.",
      "input user: Where is order 17?",
      'output assistant: tool_call look_up c1 {"order":17,"all":[1]}',
    ]);
    expect(span.attributes.state).toBe('{"open":true,"none":[]}');
  });
});

describe("other values of Langfuse", () => {
  it("counts the types of usage with input in their name, as Langfuse does", () => {
    const { attributes } = otherSpan({
      "langfuse.observation.type": "generation",
      "langfuse.observation.usage_details": JSON.stringify({
        input: 10,
        cache_read_input_tokens: 90_000,
        cache_creation_input_tokens: 500,
        output: 5,
        output_reasoning_tokens: 2,
        total: 90_517,
      }),
    });
    expect(attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 90_510,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.cache_read.input_tokens": 90_000,
      "gen_ai.usage.cache_creation.input_tokens": 500,
    });
  });

  it("shows a retrieval with its documents", () => {
    const { attributes, kind } = otherSpan({
      "langfuse.observation.type": "retriever",
      "langfuse.observation.input": "order 17",
      "langfuse.observation.output": '[{"pageContent":"sent"}]',
    });
    expect(kind).toBe("step");
    expect(attributes["gen_ai.retrieval.query.text"]).toBe("order 17");
    expect(attributes["gen_ai.retrieval.documents"]).toBe('[{"pageContent":"sent"}]');
  });

  it("sums costs without a total, and retains the status's own error", () => {
    const span = otherSpan(
      {
        "langfuse.observation.type": "generation",
        "langfuse.observation.model.name": "gpt-4o",
        "langfuse.observation.cost_details": '{"input":0.1,"output":0.2}',
        "langfuse.observation.level": "ERROR",
        "langfuse.observation.status_message": "second",
        "langfuse.session.id": "s-2",
        "langfuse.user.id": "bob",
      },
      { status: { code: 2, message: "first" } },
    );
    expect(shown(span)).toBe("model gpt-4o $0.3 ✗ first");
    expect(span.attributes).toMatchObject({ "gen_ai.conversation.id": "s-2", "user.id": "bob" });
  });
});

describe("an agent under the span of a request", () => {
  const STATE = '{"messages":[{"role":"user","content":"Where?"}]}';
  const ANSWERED =
    '{"messages":[{"role":"user","content":"Where?"},{"role":"assistant","content":"There."}]}';
  const LANGFUSE = {
    "langfuse.observation.type": "span",
    "langfuse.observation.input": STATE,
    "langfuse.observation.output": ANSWERED,
  };
  const GRAPH = { "langfuse.observation.metadata.ls_integration": "langgraph" };
  const OPENINFERENCE = {
    "openinference.span.kind": "CHAIN",
    "input.value": STATE,
    "output.value": ANSWERED,
  };
  const WORKFLOW = {
    "traceloop.span.kind": "workflow",
    "traceloop.entity.name": "span",
    "traceloop.entity.input": '{"args":["Where?"],"kwargs":{}}',
    "traceloop.entity.output": '"There."',
  };

  it.each([
    ["a graph of OpenInference", { ...OPENINFERENCE, metadata: '{"ls_integration":"langgraph"}' }],
    ["a graph of Langfuse", { ...LANGFUSE, ...GRAPH }],
    ["the first span of Langfuse", { ...LANGFUSE, "langfuse.internal.is_app_root": true }],
    ["a workflow of Traceloop", { ...WORKFLOW, "traceloop.entity.path": "" }],
  ])("is a run with question and answer: %s", (_, attributes) => {
    const span = otherSpan(attributes);
    expect(shown(span)).toBe("run span");
    expect(messages(span)).toEqual(["input user: Where?", "output assistant: There."]);
  });

  it.each([
    [
      "OpenInference",
      { ...OPENINFERENCE, metadata: '{"ls_integration":"langgraph","langgraph_node":"n"}' },
    ],
    ["Langfuse", { ...LANGFUSE, ...GRAPH, "langfuse.observation.metadata.langgraph_node": "n" }],
    ["Traceloop", { ...WORKFLOW, "traceloop.entity.path": "outer" }],
  ])("has the nodes of %s as steps", (_, attributes) => {
    const span = otherSpan(attributes);
    expect(shown(span)).toBe("step span");
    expect(messages(span)).toEqual([]);
  });
});
