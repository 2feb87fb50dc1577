import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { Bridge, setUnclassifiedWarning } from "../../../src/index.ts";
import {
  contentNames,
  expectMessageForm,
  messagesOn,
  runContent,
} from "../../support/message-form.ts";
import { collectSpans } from "../../support/spans.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { ScriptedModel, StreamingModel, says } from "./scripted-model.ts";

setUnclassifiedWarning(() => {});

const text = (content: string) => ({ type: "text", content });
const user = (...parts: object[]) => ({ role: "user", parts });
const answer = (content: string, finish_reason = "unknown") => ({
  role: "assistant",
  parts: [text(content)],
  finish_reason,
});

function listen(captureContent = true) {
  const { provider, spans } = collectSpans();
  const errors: unknown[] = [];
  const sink = new Bridge({ tracerProvider: provider, captureContent });
  const onError = (error: unknown) => void errors.push(error);
  const handler = new LangChainHandler({ sink, tenant: "acme", onError });
  return {
    handler,
    errors,
    spans,
    chat: () => spans().filter(({ name }) => name.startsWith("chat")),
  };
}

const call = (name: string, args: object = {}) => ({
  type: "tool_call",
  id: `call_${name}`,
  name,
  arguments: args,
});

describe("LangChain's messages", () => {
  it("of a model alone are on its call", async () => {
    const seen = listen();
    const config = { callbacks: [seen.handler] };
    await new ScriptedModel([says("hello")]).invoke("hi", config);
    const stream = await new StreamingModel([says("one two")]).stream(
      [new SystemMessage("be kind"), new HumanMessage("count")],
      config,
    );
    for await (const chunk of stream) void chunk;
    expect(expectMessageForm(seen.spans())).toBe(8);
    expect(runContent(seen.spans())).toEqual([
      [[user(text("hi"))], [answer("hello", "stop")]],
      [expect.anything(), [answer("one two", "stop")]],
    ]);
    const [first, second] = seen.chat();
    expect(first && messagesOn(first, "input")).toEqual([user(text("hi"))]);
    expect(first && messagesOn(first, "output")).toEqual([answer("hello", "stop")]);
    expect(second && messagesOn(second, "input")).toEqual([
      { role: "system", parts: [text("be kind")] },
      user(text("count")),
    ]);
    expect(second && messagesOn(second, "output")).toEqual([answer("one two", "stop")]);
  });

  it("of an agent are its question and its answer, with calls and failed results between", async () => {
    const seen = listen();
    const boom = plainTool("boom", () => {
      throw new Error("down");
    });
    const script = [
      says("let me see", ["add", "call_add", { a: 1, b: 2 }], ["boom", "call_boom"]),
      says("3"),
    ];
    await run(seen, reactAgent(script, [add, boom]));
    expect(expectMessageForm(seen.spans())).toBeGreaterThanOrEqual(6);
    expect(runContent(seen.spans())).toEqual([[[user(text("1 + 2?"))], [answer("3", "stop")]]]);
    const [first, second] = seen.chat();
    expect(first && messagesOn(first, "output")).toEqual([
      {
        role: "assistant",
        parts: [text("let me see"), call("add", { a: 1, b: 2 }), call("boom")],
        finish_reason: "tool_call",
      },
    ]);
    expect(second && messagesOn(second, "input")?.slice(2)).toEqual([
      {
        role: "tool",
        parts: [{ type: "tool_call_response", id: "call_add", response: "3" }],
      },
      {
        role: "tool",
        parts: [
          {
            type: "tool_call_response",
            id: "call_boom",
            response: expect.stringContaining("down"),
          },
        ],
      },
    ]);
  });

  it("hold images, files, thoughts and blocks that only their provider knows", async () => {
    const seen = listen();
    const content = [
      { type: "text", text: "what is it?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "image", source_type: "url", url: "https://a.example/i.png" },
      { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } },
    ];
    const thinking = new AIMessage({
      content: [
        { type: "thinking", thinking: "fur, whiskers", signature: "sealed" },
        { type: "redacted_thinking", data: "sealed" },
        { type: "text", text: "a cat" },
      ],
      response_metadata: { stop_reason: "end_turn" },
    });
    const failed = new ToolMessage({ content: "boom", tool_call_id: "c0", status: "error" });
    const graph = oneNodeGraph("looks", async ({ messages }) => {
      return { messages: [await new ScriptedModel([thinking]).invoke(messages)] };
    });
    await run(seen, graph, { messages: [failed, new HumanMessage({ content })] });
    expectMessageForm(seen.spans());
    const [[asked, answered] = []] = runContent(seen.spans());
    expect(asked).toEqual([
      { role: "tool", parts: [{ type: "tool_call_response", id: "c0", response: "boom" }] },
      user(
        text("what is it?"),
        { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
        { type: "uri", modality: "image", uri: "https://a.example/i.png" },
        { type: "blob", modality: "audio", mime_type: "audio/wav", content: "BBBB" },
        { type: "blob", modality: "document", mime_type: "application/pdf", content: "JVBE" },
      ),
    ]);
    expect(answered?.[0]).toMatchObject({ finish_reason: "stop" });
    expect(answered?.[0]?.parts).toEqual([
      { type: "reasoning", content: "fur, whiskers" },
      { type: "reasoning", content: "" },
      text("a cat"),
    ]);
    expect(JSON.stringify(seen.spans().map(({ attributes }) => attributes))).not.toContain(
      "sealed",
    );
  });

  it.each<[string, unknown]>([
    ["a text", "1 + 2?"],
    ["a pair", [["human", "1 + 2?"]]],
    ["a pair of another word", [["user", "1 + 2?"]]],
    ["LangChain's type", [{ type: "human", content: "1 + 2?" }]],
    ["a stored message", [{ type: "human", data: { content: "1 + 2?" } }]],
    ["a message", new HumanMessage("1 + 2?")],
    ["a list of messages", [new HumanMessage("1 + 2?")]],
    ["the conventions' form", [user(text("1 + 2?"))]],
  ])("are read from what an agent is asked as %s", async (_, messages) => {
    const seen = listen();
    const graph = oneNodeGraph("answers", async () => ({ messages: [says("3")] }));
    await run(seen, graph, { messages });
    expectMessageForm(seen.spans());
    expect(runContent(seen.spans())[0]?.[0]).toEqual([user(text("1 + 2?"))]);
  });

  it("of a paused run are what it asks, and of its resumption the answer to that", async () => {
    const seen = listen();
    const asking = plainTool("ask", () => `answer ${interrupt("May I?")}`);
    const agent = reactAgent([says("", ["ask", "call_ask"]), says("done")], [asking], {
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t1" } };
    await run(seen, agent, ASKED, thread);
    await run(seen, agent, new Command({ resume: "yes" }), thread);
    expectMessageForm(seen.spans());
    expect(runContent(seen.spans())).toEqual([
      [[user(text("1 + 2?"))], [answer("May I?")]],
      [[user(text("yes"))], [answer("done", "stop")]],
    ]);
  });

  it("of 200 KB are shortened, with the newest question and the answer", async () => {
    const seen = listen();
    const history = Array.from({ length: 400 }, (_, n) =>
      n % 2 === 0 ? new HumanMessage(`${n} ${"x".repeat(500)}`) : new AIMessage("y".repeat(500)),
    );
    const graph = oneNodeGraph("answers", async ({ messages }) => {
      return { messages: [await new ScriptedModel([says("On its way.")]).invoke(messages)] };
    });
    await run(seen, graph, { messages: [...history, new HumanMessage("Where is my order?")] });
    expectMessageForm(seen.spans());
    const spans = seen.spans().filter(({ name }) => !name.startsWith("step"));
    expect(spans).toHaveLength(2);
    for (const span of spans) {
      const { attributes } = span;
      expect(Buffer.byteLength(String(attributes["gen_ai.input.messages"]))).toBeLessThan(65_537);
      expect(messagesOn(span, "input")?.at(-1)).toEqual(user(text("Where is my order?")));
      expect(messagesOn(span, "output")?.[0]?.parts).toEqual([text("On its way.")]);
      expect(attributes["entelix.content.cut_bytes"]).toBeGreaterThan(130_000);
      expect(attributes["entelix.content.dropped_messages"]).toBeGreaterThan(200);
    }
  });

  it("are nowhere unless content is captured", async () => {
    const seen = listen(false);
    await run(seen, reactAgent([says("", ["add", "c1", { a: 1, b: 2 }]), says("3")], [add]));
    expect(seen.spans().length).toBeGreaterThan(3);
    expect(contentNames(seen.spans())).toEqual([]);
    expect(seen.errors).toEqual([]);
  });
});
