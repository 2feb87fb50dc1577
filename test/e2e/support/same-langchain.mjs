// Plays the scenarios of the comparison with the LangChain.js and LangGraph that are installed beside it.
import { AIMessage, AIMessageChunk, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";
import { z } from "zod";
import { forever, raceFree } from "./adapters-scenes.mjs";
import { ScriptedModel, says } from "./langchain-model.mjs";
import { failsTheSecondTime, playSame, pressedStop } from "./same-scenarios.mjs";

const ASKED = { messages: [{ role: "user", content: "where is it?" }] };
const ASKS = says("", ["look", "c1"]);
const DONE = says("done");

const plain = (name, work) =>
  tool(async (_, config) => work(config), { name, description: name, schema: z.object({}) });
const look = plain("look", () => "seen");
const boom = plain("look", () => {
  throw new RangeError("out of order");
});
const unavailable = () => Object.assign(new Error("overloaded"), { status: 503 });

/** An answer that ended in another way than usual, or that another model gave. */
const answer = (text, { kwargs = {}, ...metadata }) => {
  const message = says(text);
  Object.assign(message.response_metadata, metadata);
  return Object.assign(message, { additional_kwargs: kwargs });
};

const agent = (script, tools, name = "support") =>
  createReactAgent({ llm: new ScriptedModel(script), tools, name });

/** An agent of one node that asks the model again when it fails. */
const retrying = (...script) =>
  asking(new ScriptedModel(script).withRetry({ stopAfterAttempt: 2 }));

function asking(model) {
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile({ name: "support" });
}

/** Says one word after the other. */
class TalkingModel extends ScriptedModel {
  async *_streamResponseChunks(_messages, _options, manager) {
    for (let words = 0; words < 100; words += 1) {
      const chunk = new ChatGenerationChunk({ text: "one ", message: new AIMessageChunk("one ") });
      yield chunk;
      await manager?.handleLLMNewToken("one ", undefined, undefined, undefined, undefined, {
        chunk,
      });
      await turn();
    }
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** An agent that asks a person about each call, in the form of LangChain's middleware. */
function reviewed() {
  const llm = new ScriptedModel([says("", ["pay", "c1"]), DONE]);
  const review = ({ messages }) => {
    const { tool_calls: calls } = messages.at(-1);
    if (calls.length === 0) return {};
    const { decisions } = interrupt({
      actionRequests: calls.map(({ args, name }) => ({ name, args })),
      reviewConfigs: calls.map(({ name }) => ({ actionName: name })),
    });
    const told = calls
      .filter((_, at) => decisions[at].type === "reject")
      .map(
        ({ id }) => new ToolMessage({ content: "not today", tool_call_id: id, status: "error" }),
      );
    return { messages: told };
  };
  const goesOn = ({ messages }) => {
    const last = messages.at(-1);
    if (ToolMessage.isInstance?.(last) || last.getType?.() === "tool") return "agent";
    return AIMessage.isInstance?.(last) !== false && last.tool_calls?.length > 0 ? "tools" : END;
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode("review", review)
    .addNode("tools", new ToolNode([plain("pay", () => "paid")]))
    .addEdge(START, "agent")
    .addEdge("agent", "review")
    .addConditionalEdges("review", goesOn, ["agent", "tools", END])
    .addEdge("tools", "agent")
    .compile({ name: "support", checkpointer: new MemorySaver() });
}

async function decided(type, asking, resuming = asking) {
  const graph = reviewed();
  const thread = { configurable: { thread_id: "t1" } };
  await graph.invoke(ASKED, { ...asking, ...thread });
  const decisions = [{ type, message: "not today" }];
  await graph.invoke(new Command({ resume: { decisions } }), { ...resuming, ...thread });
}

// LangGraph does not say that a stream was left: the handler waits for half a minute until it takes the graph for a
// stopped one. Here that is a moment.
const wait = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms === 30_000 ? 100 : ms, ...rest);

// Node 20 may collect the signal of a timeout that only `AbortSignal.any` listens to, and then it never fires.
const signals = [];
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => {
  const signal = timeout.call(AbortSignal, ms);
  signals.push(signal);
  return signal;
};

/** The tool stops its run. */
const stopsIn =
  (reason) =>
  ({ config }) => {
    const controller = new AbortController();
    const wait = plain("look", ({ signal }) => {
      setImmediate(() => controller.abort(reason));
      return forever(signal);
    });
    return agent([ASKS], [wait]).invoke(ASKED, { ...config, signal: controller.signal });
  };

const scenarios = {
  success: ({ config }) => agent([ASKS, DONE], [look]).invoke(ASKED, config),
  "parallel tools": ({ config }) => {
    const both = raceFree(2);
    const script = [says("", ["look", "c1"], ["look", "c2"]), DONE];
    return agent(script, [plain("look", both)]).invoke(ASKED, config);
  },
  "tool failure that the model reads": ({ config }) =>
    agent([ASKS, DONE], [boom]).invoke(ASKED, config),
  "tool failure that ends the run": ({ config }) =>
    agent([ASKS], new ToolNode([boom], { handleToolErrors: false })).invoke(ASKED, config),
  "model failure after a retry": ({ config }) =>
    retrying(unavailable(), unavailable()).invoke(ASKED, config),
  "answer after a retry": ({ config }) => retrying(unavailable(), DONE).invoke(ASKED, config),
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
  "timeout in the model": ({ config }) =>
    agent([({ signal }) => forever(signal)], [look]).invoke(ASKED, { ...config, timeout: 50 }),
  async "stream whose reader leaves"({ config }) {
    const graph = createReactAgent({ llm: new TalkingModel([]), tools: [look], name: "support" });
    for await (const _ of await graph.stream(ASKED, { ...config, streamMode: "messages" })) break;
    await pause();
  },
  "answer cut by length": ({ config }) =>
    agent([answer("do", { finish_reason: "length" })], [look]).invoke(ASKED, config),
  refusal: ({ config }) =>
    agent([answer("", { kwargs: { refusal: "no" } })], [look]).invoke(ASKED, config),
  fallback: ({ config }) => {
    const second = new ScriptedModel([answer("done", { model_name: "small-2" })]);
    const model = new ScriptedModel([unavailable()]).withFallbacks([second]);
    return asking(model).invoke(ASKED, config);
  },
  "failure after an answer": ({ config }) =>
    agent([ASKS, unavailable()], [look]).invoke(ASKED, config),
  "call that never ran": ({ config }) =>
    agent([says("", ["none", "c1"]), DONE], [look]).invoke(ASKED, config),
  "calls inside a call": ({ config }) => {
    const calls = plain("look", async (runConfig) => {
      await look.invoke({}, runConfig);
      await new ScriptedModel([DONE]).invoke("hi", runConfig);
      return "seen";
    });
    return agent([ASKS, DONE], [calls]).invoke(ASKED, config);
  },
  "one ID twice": ({ config }) => {
    const fails = plain("look", failsTheSecondTime());
    const script = [says("", ["look", "c1"], ["look", "c1"]), DONE];
    return agent(script, [fails]).invoke(ASKED, config);
  },
  "agent in a tool": ({ config }) => {
    const inner = agent([ASKS, DONE], [look], "expert");
    const ask = plain("look", async (runConfig) => {
      await inner.invoke(ASKED, runConfig);
      return "seen";
    });
    return agent([ASKS, DONE], [ask]).invoke(ASKED, config);
  },
  "pause, approved": ({ config }) => decided("approve", config),
  "pause, denied": ({ config }) => decided("reject", config),
  "pause, approved in another process": async ({ config }, open) =>
    decided("approve", config, (await open()).config),
  "resumption of a user's run": ({ config }) =>
    decided("approve", { ...config, metadata: { user: "u1" } }, config),
  "two tenants at once": async ({ config }) => {
    const both = raceFree(2);
    await Promise.all(
      ["acme", "globex"].map((tenant) =>
        agent([ASKS, DONE], [plain("look", both)]).invoke(ASKED, {
          ...config,
          metadata: { tenant },
        }),
      ),
    );
  },
};

await playSame({
  scenarios,
  begin(sink, onError) {
    const tenant = ({ tenant = "acme" }) => tenant;
    const context = ({ user }) => (user === undefined ? undefined : { user });
    const handler = new LangChainHandler({ sink, tenant, context, onError });
    return { config: { callbacks: [handler] }, flush: () => handler.flush() };
  },
});
