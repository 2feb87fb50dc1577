import { createRequire } from "node:module";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { langfuse, ourSides, stock } from "./telemetry.mjs";
import { AGENT, ANSWER, callOf, MODEL, question, result, SYSTEM, TOOL, USAGE } from "./texts.mjs";

const require = createRequire(import.meta.url);

/** Does nothing: what LangChain does to call a handler is not the cost of an instrumentation. */
export const IDLE = {
  name: "idle",
  awaitHandlers: true,
  handleChainStart() {},
  handleChainEnd() {},
  handleToolStart() {},
  handleToolEnd() {},
  handleChatModelStart() {},
  handleLLMEnd() {},
};

/** Two instrumentations hook into `CallbackManager`: this one gives the handler that they add there. */
function handlerOf(instrument) {
  const manager = { _configureSync: (handlers) => handlers };
  instrument({ CallbackManager: manager });
  const [handler] = manager._configureSync([]);
  if (handler === undefined) throw new Error("expected a handler from the hook");
  return handler;
}

/** Name to what makes a callback handler and its flush. */
export const SIDES = {
  ...ourSides("langchain", ({ LangChainHandler }, sink) => {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    return { handler, flush: () => handler.flush() };
  }),
  async openinference(given) {
    const { LangChainInstrumentation } = await import(
      "@arizeai/openinference-instrumentation-langchain"
    );
    const { flush, provider } = await stock(given);
    const made = new LangChainInstrumentation({ tracerProvider: provider });
    return { handler: handlerOf((module) => made.manuallyInstrument(module)), flush };
  },
  async langfuse(given) {
    const { CallbackHandler } = await import("@langfuse/langchain");
    const { setLangfuseTracerProvider } = await import("@langfuse/tracing");
    const { flush, provider } = await langfuse(given);
    setLangfuseTracerProvider(provider);
    return { handler: new CallbackHandler(), flush };
  },
  async traceloop(given) {
    const { LangChainInstrumentation } = await import("@traceloop/instrumentation-langchain");
    // It would add itself to every call; here it is given to a call, as the others are.
    CallbackManager._traceloopPatched = true;
    require("@langchain/core/callbacks/manager").CallbackManager._traceloopPatched = true;
    const { flush, provider } = await stock(given);
    const made = new LangChainInstrumentation({ traceContent: true });
    made.setTracerProvider(provider);
    const handler = handlerOf((module) =>
      made.manuallyInstrument({ callbackManagerModule: module }),
    );
    return { handler, flush };
  },
};

class ScriptedModel extends BaseChatModel {
  #turns;

  constructor(turns) {
    super({ maxRetries: 0 });
    this.#turns = turns;
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
    const done = (messages.length - 2) / 2;
    const asks = done < this.#turns;
    const message = new AIMessage({
      content: asks ? "" : ANSWER,
      tool_calls: asks ? [{ type: "tool_call", ...callOf(done) }] : [],
      usage_metadata: {
        input_tokens: USAGE.input,
        output_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        input_token_details: { cache_read: USAGE.cached },
      },
      response_metadata: {
        model_name: `${MODEL}-2026`,
        finish_reason: asks ? "tool_calls" : "stop",
      },
    });
    return { generations: [{ text: String(message.content), message }] };
  }
}

export function workload({ size, turns }) {
  const search = tool(async () => result(size), {
    name: TOOL,
    description: "Searches documents",
    schema: z.object({ query: z.string(), limit: z.number() }),
  });
  const graph = createReactAgent({
    llm: new ScriptedModel(turns),
    tools: [search],
    prompt: SYSTEM,
    name: AGENT,
  });
  return {
    play: (handler) =>
      graph.invoke(
        { messages: [new HumanMessage(question())] },
        {
          callbacks: [handler],
          metadata: { thread_id: "t1" },
          recursionLimit: 2 * turns + 10,
        },
      ),
    settle: awaitAllCallbacks,
  };
}
