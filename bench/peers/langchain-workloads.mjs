import { randomUUID } from "node:crypto";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { v7 } from "uuid";
import { z } from "zod";
import { IDLE } from "./langchain-variants.mjs";
import { AGENT, MODEL, payloadOf, SYSTEM, TOOL_NAMES, USAGE } from "./payload.mjs";

const answer = (content, calls) =>
  new AIMessage({
    content,
    tool_calls: calls.map(({ id, name, args }) => ({ type: "tool_call", id, name, args })),
    usage_metadata: {
      input_tokens: USAGE.input,
      output_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
      input_token_details: { cache_read: USAGE.cached },
    },
    response_metadata: {
      model_name: `${MODEL}-2026`,
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    },
  });

/** Answers by what it is asked: with the calls first, with the answer once they have results. */
class ScriptedModel extends BaseChatModel {
  constructor() {
    super({ maxRetries: 0 });
  }

  _llmType() {
    return "scripted";
  }

  getLsParams(options) {
    return { ...super.getLsParams(options), ls_provider: "acme", ls_model_name: MODEL };
  }

  invocationParams() {
    return { model: MODEL, temperature: 0 };
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const asked = messages.find((message) => message.getType() === "human");
    const { calls, answer: text } = payloadOf(Number(/customer (\d+)/.exec(asked.content)[1]));
    const message = messages.at(-1).getType() === "tool" ? answer(text, []) : answer("", calls);
    return { generations: [{ text: String(message.content), message }] };
  }
}

const model = new ScriptedModel();
const tools = TOOL_NAMES.map((name, k) =>
  tool(async ({ query }) => payloadOf(Number(/customer (\d+)/.exec(query)[1])).calls[k].output, {
    name,
    description: name,
    schema: z.object({ query: z.string(), limit: z.number() }),
  }),
);
const toolOf = new Map(tools.map((each) => [each.name, each]));

/** The framework without a graph: one chain, whose code asks the model and calls its tools. */
const chain = RunnableLambda.from(async (question, config) => {
  const messages = [new SystemMessage(SYSTEM), new HumanMessage(question)];
  for (;;) {
    const said = await model.invoke(messages, config);
    messages.push(said);
    if (said.tool_calls.length === 0) return said.content;
    for (const call of said.tool_calls) {
      messages.push(await toolOf.get(call.name).invoke({ ...call, type: "tool_call" }, config));
    }
  }
}).withConfig({ runName: AGENT });

const graph = createReactAgent({ llm: model, tools, prompt: SYSTEM, name: AGENT });

const CHAIN = { lc: 1, type: "not_implemented", id: ["langgraph", "pregel", "CompiledStateGraph"] };
const TOOL = {
  lc: 1,
  type: "not_implemented",
  id: ["langchain", "tools", "DynamicStructuredTool"],
};
const CHAT = { lc: 1, type: "not_implemented", id: ["langchain", "chat_models", "ScriptedModel"] };
const EXTRA = { options: {}, invocation_params: { model: MODEL, temperature: 0 } };
const MODEL_METADATA = { ls_provider: "acme", ls_model_name: MODEL, ls_model_type: "chat" };

/** All that the callbacks of a run are given, made before the clock starts. */
function callbacksOf(n) {
  const { question, calls, answer: text } = payloadOf(n);
  const asked = [new SystemMessage(SYSTEM), new HumanMessage(question)];
  const asks = answer("", calls);
  const results = calls.map(
    ({ id, name, output }) => new ToolMessage({ content: output, tool_call_id: id, name }),
  );
  const says = answer(text, []);
  const generation = (message) => ({ generations: [[{ text: String(message.content), message }]] });
  return {
    id: v7(),
    inputs: { messages: asked },
    outputs: { messages: [...asked, asks, ...results, says] },
    models: [
      { id: v7(), messages: [asked], result: generation(asks) },
      { id: v7(), messages: [[...asked, asks, ...results]], result: generation(says) },
    ],
    tools: calls.map(({ id, name, args }, k) => ({
      id: randomUUID(),
      callId: id,
      name,
      input: JSON.stringify(args),
      output: results[k],
    })),
  };
}

/** Calls a handler as LangChain does: each callback is waited for. */
async function drive(handler, { id, inputs, outputs, models, tools }) {
  const metadata = { thread_id: "t1" };
  await handler.handleChainStart?.(CHAIN, inputs, id, undefined, [], metadata, undefined, AGENT);
  await chat(handler, models[0], id);
  for (const call of tools) {
    const { id: runId, callId, name, input, output } = call;
    await handler.handleToolStart?.(TOOL, input, runId, id, [], metadata, name, callId);
    await handler.handleToolEnd?.(output, runId, id);
  }
  await chat(handler, models[1], id);
  await handler.handleChainEnd?.(outputs, id);
}

/** Without models and messages: one run and three tools, the payload plain text. */
async function driveTools(handler, { id, tools }) {
  const metadata = { thread_id: "t1" };
  const inputs = { input: tools[0].input };
  await handler.handleChainStart?.(CHAIN, inputs, id, undefined, [], metadata, undefined, AGENT);
  for (const { id: runId, callId, name, input, output } of tools) {
    await handler.handleToolStart?.(TOOL, input, runId, id, [], metadata, name, callId);
    await handler.handleToolEnd?.(output.content, runId, id);
  }
  await handler.handleChainEnd?.({ output: "done" }, id);
}

async function chat(handler, { id, messages, result }, parent) {
  await handler.handleChatModelStart?.(
    CHAT,
    messages,
    id,
    parent,
    EXTRA,
    [],
    MODEL_METADATA,
    MODEL,
  );
  await handler.handleLLMEnd?.(result, id, parent);
}

const invoking = (runnable, input) => ({
  prepare: (n) => input(payloadOf(n).question),
  play: (handler = IDLE, given) =>
    runnable.invoke(given, { callbacks: [handler], metadata: { thread_id: "t1" } }),
  /** Most handlers are called in the background. */
  settle: awaitAllCallbacks,
  /** Whether the framework's own work is in it, and is to be taken off. */
  framework: true,
});

export const WORKLOADS = {
  tools: {
    prepare: callbacksOf,
    play: driveTools,
    framework: false,
    parts: ["tool input", "tool output"],
  },
  callbacks: { prepare: callbacksOf, play: drive, framework: false },
  chain: invoking(chain, (question) => question),
  graph: invoking(graph, (question) => ({ messages: [new HumanMessage(question)] })),
};
