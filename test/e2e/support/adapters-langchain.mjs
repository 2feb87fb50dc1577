// Runs one scripted program with the LangChain.js and LangGraph that are installed beside it, under the adapter,
// and prints the spans of each scene as JSON. It uses only what the oldest supported versions have.
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";
import { z } from "zod";
import { play, raceFree } from "./adapters-scenes.mjs";
import { ScriptedModel, says } from "./langchain-model.mjs";

const add = tool(async ({ a, b }) => String(a + b), {
  name: "add",
  description: "adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});

const plain = (name, work) =>
  tool(async () => work(), { name, description: name, schema: z.object({}) });

const boom = plain("boom", () => {
  throw new RangeError("out of order");
});

const agent = (name, script, tools, more = {}) =>
  createReactAgent({ llm: new ScriptedModel(script), tools, name, ...more });

const ASKED = { messages: [{ role: "user", content: "1 + 2?" }] };

await play({
  scenes: {
    async success(config) {
      const calls = [["add", "c1", { a: 1, b: 2 }]];
      await agent("support", [says("", ...calls), says("3")], [add]).invoke(ASKED, config);
    },
    async "tool failure"(config) {
      await agent("support", [says("", ["boom", "c1"]), says("sorry")], [boom]).invoke(
        ASKED,
        config,
      );
    },
    async "model failure"(config) {
      await agent("support", [new Error("no model today")], [add]).invoke(ASKED, config);
    },
    async "interrupt and resume"(config) {
      const ask = plain("ask", () => `told ${interrupt("may I?")}`);
      const graph = agent("support", [says("", ["ask", "c1"]), says("done")], [ask], {
        checkpointSaver: new MemorySaver(),
      });
      const thread = { ...config, configurable: { thread_id: "t1" } };
      await graph.invoke(ASKED, thread);
      await graph.invoke(new Command({ resume: "yes" }), thread);
    },
    async "parallel tools"(config) {
      const both = raceFree(2);
      const slow = (name) => plain(name, both);
      const script = [says("", ["left", "c1"], ["right", "c2"]), says("both")];
      await agent("support", script, [slow("left"), slow("right")]).invoke(ASKED, config);
    },
    async "nested agent"(config) {
      const inner = agent("inner", [says("", ["add", "c1", { a: 1, b: 2 }]), says("3")], [add]);
      const model = new ScriptedModel([says("so it is 3")]);
      const outer = new StateGraph(MessagesAnnotation)
        .addNode("first", inner)
        .addNode("last", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addEdge(START, "first")
        .addEdge("first", "last")
        .addEdge("last", END)
        .compile();
      await outer.invoke(ASKED, { ...config, runName: "outer" });
    },
    async "agent in a tool"(config) {
      const inner = agent("inner", [says("3")], [add]);
      const ask = tool(
        async (_, runConfig) => {
          const { messages } = await inner.invoke(ASKED, runConfig);
          return String(messages.at(-1).content);
        },
        { name: "ask", description: "asks", schema: z.object({}) },
      );
      await agent("outer", [says("", ["ask", "c1"]), says("3")], [ask]).invoke(ASKED, config);
    },
    async "parallel branches"(config) {
      const both = raceFree(2);
      const State = Annotation.Root({
        seen: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
      });
      const branch = (name) => async (_, runConfig) => {
        await both();
        await plain(name, () => "seen").invoke({}, runConfig);
        return { seen: [name] };
      };
      const graph = new StateGraph(State)
        .addNode("left", branch("look_left"))
        .addNode("right", branch("look_right"))
        .addEdge(START, "left")
        .addEdge(START, "right")
        .addEdge("left", END)
        .addEdge("right", END)
        .compile();
      await graph.invoke({ seen: [] }, { ...config, runName: "branches" });
    },
  },
  begin(bridge, onError) {
    const handler = new LangChainHandler({ sink: bridge, tenant: "acme", onError });
    return {
      config: { callbacks: [handler], runName: undefined },
      flush: () => handler.flush(),
      counts: () => handler.counts,
    };
  },
});
