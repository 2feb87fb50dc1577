// Runs one scripted program with the OpenAI Agents SDK that is installed beside it, under the adapter, and prints the
// spans of each scene as JSON. It uses only what the oldest supported version has.
import {
  Agent,
  run,
  setDefaultModelProvider,
  setTraceProcessors,
  setTracingDisabled,
  tool,
} from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { z } from "zod";
import { play, raceFree } from "./adapters-scenes.mjs";
import { asks, ScriptedModel, says } from "./openai-agents-model.mjs";

const agent = (name, script, more = {}) =>
  new Agent({ name, model: new ScriptedModel(script), ...more });

const plain = (name, execute, more = {}) =>
  tool({ name, description: name, parameters: z.object({}), execute, ...more });

const add = tool({
  name: "add",
  description: "adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

const fails = async () => {
  throw new RangeError("out of order");
};

// Old versions ask for one, though every agent here brings its model.
setDefaultModelProvider({ getModel: () => new ScriptedModel([]) });

await play({
  scenes: {
    async success() {
      const script = [[asks("add", "c1", { a: 1, b: 2 })], [says("3")]];
      await run(agent("support", script, { tools: [add] }), "1 + 2?");
    },
    async "tool failure"() {
      const tools = [plain("boom", fails)];
      await run(agent("support", [[asks("boom", "c1")], [says("sorry")]], { tools }), "go");
    },
    async "tool failure that ends the run"() {
      const tools = [plain("boom", fails, { errorFunction: null })];
      await run(agent("support", [[asks("boom", "c1")]], { tools }), "go");
    },
    async "model failure"() {
      await run(agent("support", [new Error("no model today")]), "go");
    },
    async "interrupt and resume"() {
      const tools = [plain("pay", async () => "paid", { needsApproval: true })];
      const payer = agent("support", [[asks("pay", "c1")], [says("done")]], { tools });
      const paused = await run(payer, "pay");
      for (const item of paused.interruptions) paused.state.approve(item);
      await run(payer, paused.state);
    },
    async "parallel tools"() {
      const both = raceFree(2);
      const tools = [plain("left", both), plain("right", both)];
      const script = [[asks("left", "c1"), asks("right", "c2")], [says("both")]];
      await run(agent("support", script, { tools }), "go");
    },
    async "nested agent"() {
      const inner = agent("inner", [[asks("add", "c2", { a: 1, b: 2 })], [says("3")]], {
        tools: [add],
      });
      const tools = [inner.asTool({ toolName: "ask", toolDescription: "asks" })];
      await run(
        agent("outer", [[asks("ask", "c1", { input: "1 + 2?" })], [says("3")]], { tools }),
        "go",
      );
    },
    async handoff() {
      const refunds = agent("refunds", [[says("refunded")]]);
      const script = [[asks("transfer_to_refunds", "c1")]];
      await run(agent("front", script, { handoffs: [refunds] }), "refund");
    },
    async "too many turns"() {
      const script = [[asks("add", "c1", { a: 1, b: 2 })], [says("3")]];
      await run(agent("support", script, { tools: [add] }), "go", { maxTurns: 1 });
    },
  },
  begin(bridge, onError) {
    const processor = new OpenAIAgentsProcessor({ sink: bridge, tenant: "acme", onError });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    return { flush: () => processor.forceFlush(), counts: () => processor.counts };
  },
});
