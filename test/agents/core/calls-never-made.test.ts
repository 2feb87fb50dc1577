import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RpcError, refusedEnvelope } from "../../../src/agents/mcp/rpc-error.ts";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { MastraTelemetry } from "../../../src/entries/mastra.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { type AgentEventSink, setUnclassifiedWarning } from "../../../src/index.ts";
import { recorder } from "../../support/recorded-and-replayed.ts";
import { asks, FakeCall, text } from "../ai-sdk/fake-sdk.ts";
import { FakeCall6 } from "../ai-sdk/fake-sdk-6.ts";
import { add } from "../langchain/agents.ts";
import { type Line, ScriptedModel, says } from "../langchain/scripted-model.ts";
import { agentRun, answered, asked, tool as mastraTool, REQUEST } from "../mastra/fake-mastra.ts";

setUnclassifiedWarning(() => {});

type Call = Readonly<{ name: string; args: Readonly<Record<string, unknown>>; id: string }>;
const UNKNOWN: Call = { name: "nope", args: { q: 1 }, id: "u1" };
const UNFIT: Call = { name: "add", args: { a: "x" }, id: "u2" };

/** A graph whose model makes these calls. @param node what answers them. */
function graphOf(
  turns: readonly (readonly Call[])[],
  node: (messages: BaseMessage[]) => Promise<BaseMessage[]>,
) {
  const lines = turns.map((calls): Line => {
    const tool_calls = calls.map((call) => ({ ...call, type: "tool_call" as const }));
    return new AIMessage({ content: "", tool_calls });
  });
  const llm = new ScriptedModel([...lines, says("done")]);
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode("tools", async ({ messages }) => ({ messages: await node(messages) }))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", ({ messages }) => {
      const last = messages.at(-1);
      return last instanceof AIMessage && (last.tool_calls ?? []).length > 0 ? "tools" : "__end__";
    })
    .addEdge("tools", "agent")
    .compile({ name: "support" });
}

/** LangGraph's own node. */
async function toolNode(messages: BaseMessage[]): Promise<BaseMessage[]> {
  return new ToolNode([add]).invoke(messages);
}

async function followed(
  sink: AgentEventSink,
  turns: readonly (readonly Call[])[],
  node = toolNode,
): Promise<void> {
  const handler = new LangChainHandler({ sink, tenant: "acme" });
  const config = { callbacks: [handler], recursionLimit: 50 };
  await graphOf(turns, node).invoke({ messages: [{ role: "user", content: "hi" }] }, config);
  await handler.flush();
}

function failedCalls({ spans }: ReturnType<typeof recorder>) {
  return spans()
    .filter(({ name }) => name.startsWith("execute_tool"))
    .map(({ attributes, events, name, status }) => [
      name,
      attributes["gen_ai.tool.call.id"],
      status.code,
      attributes["entelix.tool.error_kind"],
      events[0]?.attributes?.["exception.type"],
    ]);
}

const MISSING = [2, "validation", "tool_unknown"];
const REFUSED = [
  ["execute_tool nope", "u1", ...MISSING],
  ["execute_tool add", "u2", 2, "validation", "tool_input_invalid"],
];

function root({ spans }: ReturnType<typeof recorder>) {
  return spans().find(({ name }) => name.startsWith("invoke_agent"))?.attributes;
}

describe("calls that a framework does not make", () => {
  it("are failed calls with the model's text: LangGraph", async () => {
    const recording = recorder({ captureContent: true });
    await followed(recording.sink, [[UNKNOWN, UNFIT]]);
    expect(failedCalls(recording)).toEqual(REFUSED);
    expect(root(recording)?.["entelix.run.tool_calls"]).toBe(2);
    const [call] = recording.spans().filter(({ name }) => name === "execute_tool nope");
    expect(call?.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"q":1}',
      "entelix.tool.model_text": expect.stringContaining("not found"),
    });
    const step = recording.spans().find(({ name }) => name === "step tools");
    expect(call?.parentSpanContext?.spanId).toBe(step?.spanContext().spanId);
    await recording.replayed();
  });

  it.each([
    ["of a tool that it does not have", [UNKNOWN], [REFUSED[0]]],
    ["with an input that does not fit", [UNFIT], [REFUSED[1]]],
    ["of a tool that it does not have, beside another", [UNFIT, UNKNOWN], [REFUSED[0]]],
  ])("are failed calls where LangGraph's node throws: one %s", async (_, calls, failed) => {
    const recording = recorder({ captureContent: true });
    const strict = async (messages: BaseMessage[]) =>
      new ToolNode([add], { handleToolErrors: false }).invoke(messages);
    await expect(followed(recording.sink, [calls], strict)).rejects.toThrow();
    expect(failedCalls(recording)).toEqual(failed);
    const [call] = recording.spans().filter(({ name }) => name.startsWith("execute_tool"));
    const step = recording.spans().find(({ name }) => name === "step tools");
    expect(call?.parentSpanContext?.spanId).toBe(step?.spanContext().spanId);
    await recording.replayed();
  });

  it("are failed calls with the model's text: AI SDK 7", async () => {
    const recording = recorder({ captureContent: true });
    const telemetry = new AiSdkTelemetry({ sink: recording.sink, tenant: "acme" });
    const call = new FakeCall(telemetry, { tools: { add: { description: "adds" } } });
    await call.start();
    const parts = [UNKNOWN, UNFIT].map(({ args, id, name }) => asks(name, id, args));
    await call.model({});
    call.answers(parts);
    call.step([
      ...parts,
      { ...parts[0], type: "tool-error", error: "Model tried to call unavailable tool 'nope'." },
      { ...parts[1], type: "tool-error", error: "Invalid input for tool add" },
    ]);
    await call.finish([text("done")]);
    expect(failedCalls(recording)).toEqual(REFUSED);
    await recording.replayed();
  });

  it("are failed calls with the model's text: AI SDK 6", async () => {
    const recording = recorder({ captureContent: true });
    const telemetry = new AiSdkTelemetry({ sink: recording.sink, tenant: "acme" });
    const parts = [UNKNOWN, UNFIT].map(({ args, id, name }) => asks(name, id, args));
    const errorOf = (toolCallId: string, toolName: string, value: string) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: "error-text", value },
    });
    await new FakeCall6(telemetry.tracer).generate(async (call) => {
      await call.model(parts);
      const content = [
        errorOf("u1", "nope", "Model tried to call unavailable tool 'nope'."),
        errorOf("u2", "add", "Invalid input for tool add"),
      ];
      await call.model([text("done")], [{ role: "tool", content }]);
    });
    expect(failedCalls(recording)).toEqual(REFUSED);
    await recording.replayed();
  });

  it("are failed calls with the model's text: Mastra", async () => {
    const recording = recorder({ captureContent: true });
    const telemetry = new MastraTelemetry({ sink: recording.sink, tenant: "acme" });
    const run = agentRun(telemetry);
    const { generation, inference, step } = asked(run);
    const unknown = mastraTool(step, "nope", "u1", { input: UNKNOWN.args });
    unknown.end({ errorInfo: { name: "Error", message: 'Tool "nope" not found. Available: add' } });
    const call = mastraTool(step, "add", "u2", { input: UNFIT.args });
    const message = "Tool input validation failed for add.";
    call.end({ output: { error: true, message, validationErrors: {} } });
    inference.end(answered());
    step.end();
    generation.end(answered());
    run.end({ output: { text: "done" } });
    expect(failedCalls(recording)).toEqual(REFUSED);
    await recording.replayed();
  });

  it.each([
    ["is one that Mastra answers", true, [{ name: "add" }], [["execute_tool nope", "u1"]]],
    [
      "is one after which a durable agent asks the model again",
      undefined,
      [{ name: "add" }],
      [["execute_tool nope", "u1"]],
    ],
    ["is the application's own, which Mastra waits for", false, [{ name: "add" }], []],
    ["is one that the client offers", true, [{ name: "nope" }], []],
  ])("are known from what Mastra leaves to the client, if it %s", async (...given) => {
    const [, isContinued, tools, calls] = given;
    const recording = recorder({ captureContent: true });
    const run = agentRun(new MastraTelemetry({ sink: recording.sink, tenant: "acme" }));
    const generation = run.child("model_generation", { attributes: { ...REQUEST, tools } });
    const step = generation.child("model_step");
    const inference = step.child("model_inference", { attributes: REQUEST });
    run.child("client_tool_call", { entityName: "nope" }).end();
    inference.end(answered("tool-calls", ""));
    const { args, id: toolCallId, name: toolName } = UNKNOWN;
    const output = { toolCalls: [{ toolCallId, toolName, args }] };
    step.end({ attributes: { isContinued }, output });
    if (isContinued !== false) {
      const next = generation.child("model_step");
      next.child("model_inference", { attributes: REQUEST }).end(answered());
    }
    generation.end(answered());
    run.end({ output: { text: "done" } });
    expect(failedCalls(recording)).toEqual(calls.map((call) => [...call, ...MISSING]));
    expect(root(recording)?.["entelix.run.tool_calls"]).toBe(calls.length || undefined);
    await recording.replayed();
  });

  it("are found as a loop, if the model repeats them", async () => {
    const recording = recorder({ captureContent: true });
    const turns = Array.from({ length: 8 }, (_, n) => [{ ...UNFIT, id: `u${n}` }]);
    await followed(recording.sink, turns);
    expect(root(recording)?.["entelix.run.loop"]).toBe("repeat");
  });

  it("are told apart from a call that code of a node answers", async () => {
    const recording = recorder();
    const message = (call: Call, status?: "error" | "success") =>
      new ToolMessage({ content: "later", tool_call_id: call.id, ...(status && { status }) });
    await followed(recording.sink, [[UNKNOWN, UNFIT]], async () => [
      message(UNKNOWN, "error"),
      message(UNFIT, "success"),
    ]);
    // A call that was answered without an error did not fail.
    expect(failedCalls(recording)).toEqual([
      ["execute_tool nope", "u1", 2, "internal", "tool_not_called"],
    ]);
  });

  it("are known from older tool nodes, whose messages have no status", async () => {
    const recording = recorder();
    await followed(recording.sink, [[UNKNOWN]], async () => [
      new ToolMessage({
        content: 'Error: Tool "nope" not found.\n Please fix your mistakes.',
        tool_call_id: "u1",
      }),
    ]);
    expect(failedCalls(recording)).toEqual([REFUSED[0]]);
  });

  it("are not those that LangChain reports without their ID, as its older versions do", async () => {
    const recording = recorder();
    const broken = langChainTool(
      async () => {
        throw new Error("out of order");
      },
      { name: "boom", description: "fails", schema: z.object({}) },
    );
    await followed(recording.sink, [[{ name: "boom", args: {}, id: "b1" }]], async () => {
      await broken.invoke({}).catch(() => {});
      return [new ToolMessage({ content: "Error: no", tool_call_id: "b1", status: "error" })];
    });
    expect(failedCalls(recording).map(([name]) => name)).toEqual(["execute_tool boom"]);
    expect(root(recording)?.["entelix.run.tool_calls"]).toBe(1);
  });

  it.each([
    ["the same ID", "c1", 1],
    ["no ID", "", 4],
  ])("are shown beside one that is made if all have %s: LangGraph", async (_, id, ids) => {
    const recording = recorder({ captureContent: true });
    const made = { name: "add", args: { a: 1, b: 2 } };
    const calls = [UNKNOWN, made, UNFIT, { name: "add", args: { a: "y" } }];
    await followed(recording.sink, [calls.map((call) => ({ ...call, id }))]);
    const spans = recording.spans().filter(({ name }) => name.startsWith("execute_tool"));
    const seen = spans.map(({ attributes, name }) => [
      name,
      attributes["gen_ai.tool.call.arguments"],
      attributes["error.type"],
    ]);
    const all = [
      ["execute_tool add", '{"a":1,"b":2}', undefined],
      ["execute_tool nope", '{"q":1}', "validation"],
      ["execute_tool add", '{"a":"x"}', "validation"],
      ["execute_tool add", '{"a":"y"}', "validation"],
    ];
    expect(seen).toEqual(expect.arrayContaining(all));
    expect(seen).toHaveLength(all.length);
    const given = spans.map(({ attributes }) => attributes["gen_ai.tool.call.id"]);
    expect(new Set(given).size).toBe(ids);
    expect(root(recording)?.["entelix.run.tool_calls"]).toBe(4);
    await recording.replayed();
  });

  it("are those whose input is not JSON, too: LangChain", async () => {
    const recording = recorder();
    const handler = new LangChainHandler({ sink: recording.sink, tenant: "acme" });
    const invalid_tool_calls = [{ name: "add", args: '{"a":', id: "u2", error: "Unexpected end" }];
    const llm = new ScriptedModel([new AIMessage({ content: "", invalid_tool_calls })]);
    await llm.invoke("hi", { callbacks: [handler] });
    await handler.flush();
    expect(failedCalls(recording)).toEqual([REFUSED[1]]);
  });
});

describe("an error of an MCP server", () => {
  it.each([
    [-32602, "MCP error -32602: Tool nope not found", "tool_unknown"],
    [-32602, "Unknown tool: nope", "tool_unknown"],
    [-32602, "MCP error -32602: Invalid arguments for tool add: a", "tool_input_invalid"],
    [-32602, "MCP error -32602: Tool add disabled", "tool_unknown"],
    [-32602, "tool not found", "tool_unknown"],
    [-32602, "Structured content does not match the tool's output schema: a", undefined],
    [-32602, "MCP error -32602: Output validation error: Invalid structured content", undefined],
    [-32603, "Tool storage not found", undefined],
  ])("%i, %j says why the call was not made", (code, message, wireCode) => {
    const envelope = refusedEnvelope(new RpcError({ code, message }));
    expect(envelope?.wire_code).toBe(wireCode);
  });
});

/** One call of a plain function tool. */
const RETURNS: Readonly<
  Record<string, (sink: AgentEventSink, result: object) => Promise<unknown>>
> = {
  runAgent: (sink, result) =>
    runAgent({ sink, agent: "a", tenant: "acme" }, (run) => run.tool("add", () => result)),

  LangGraph: async (sink, result) => {
    const named = { name: "add", description: "adds", schema: z.object({}) };
    const node = new ToolNode([langChainTool(async () => result, named)]);
    await followed(sink, [[{ name: "add", args: {}, id: "c1" }]], (messages) =>
      node.invoke(messages),
    );
  },

  "AI SDK 7": async (sink, result) => {
    const call = new FakeCall(new AiSdkTelemetry({ sink, tenant: "acme" }));
    await call.start();
    await call.model({});
    await call.tool(asks("add", "c1"), () => result);
    await call.finish([text("done")]);
  },

  "AI SDK 6": (sink, result) => {
    const { tracer } = new AiSdkTelemetry({ sink, tenant: "acme" });
    return new FakeCall6(tracer).generate(async (call) => {
      await call.model([asks("add", "c1")]);
      await call.tool(asks("add", "c1"), () => result);
      await call.model([text("done")]);
    });
  },

  Mastra: async (sink, result) => {
    const run = agentRun(new MastraTelemetry({ sink, tenant: "acme" }));
    const { step } = asked(run);
    mastraTool(step, "add", "c1").end({ output: result, attributes: { success: true } });
    run.end({ output: { text: "done" } });
  },
};

describe("a plain function tool that returns `isError: true`", () => {
  for (const [name, scene] of Object.entries(RETURNS)) {
    it.each([
      { isError: true, content: [{ type: "text", text: "no such row" }] },
      { isError: true, reason: "no such row" },
    ])(`failed: ${name}, %j`, async (result) => {
      const recording = recorder({ captureContent: true });
      await scene(recording.sink, result);
      const [call] = recording.spans().filter((span) => span.name === "execute_tool add");
      expect(call?.status.code).toBe(2);
      expect(String(call?.attributes["entelix.tool.model_text"])).toContain("no such row");
    });
  }
});
