// Runs agents of the OpenAI Agents SDK with a model of another provider, by `aisdk()` of its extensions, and prints the
// spans of each scene as JSON. The model is an object as the packages of the AI SDK make it.
import { Agent, run, setTraceProcessors, setTracingDisabled, tool } from "@openai/agents";
import { aisdk } from "@openai/agents-extensions/ai-sdk";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { z } from "zod";
import { play } from "./adapters-scenes.mjs";

/** Answers by its script, as `@ai-sdk/anthropic` does. */
function scripted(script) {
  const answers = [...script];
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 2 };
  return aisdk({
    specificationVersion: "v2",
    provider: "anthropic.messages",
    modelId: "claude-small-1",
    supportedUrls: {},
    async doGenerate() {
      const content = answers.shift();
      if (content instanceof Error) throw content;
      const isCall = content.some(({ type }) => type === "tool-call");
      return { content, finishReason: isCall ? "tool-calls" : "stop", usage, warnings: [] };
    },
    async doStream() {
      const content = answers.shift();
      const text = content[0].text;
      const parts = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: text },
        { type: "text-end", id: "t" },
        { type: "finish", finishReason: "stop", usage },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  });
}

const says = (text) => ({ type: "text", text });

const asks = (toolName, toolCallId, input = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
});

const agent = (name, script, more = {}) => new Agent({ name, model: scripted(script), ...more });

const plain = (name, execute, more = {}) =>
  tool({ name, description: name, parameters: z.object({}), execute, ...more });

const add = tool({
  name: "add",
  description: "adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

await play({
  scenes: {
    async success() {
      const script = [[asks("add", "c1", { a: 1, b: 2 })], [says("3")]];
      await run(agent("support", script, { tools: [add] }), "1 + 2?");
    },
    async streamed() {
      const result = await run(agent("support", [[says("3")]]), "1 + 2?", { stream: true });
      for await (const _ of result);
      await result.completed;
    },
    async "model failure"() {
      const thrown = Object.assign(new Error("slow down"), {
        name: "AI_APICallError",
        statusCode: 429,
      });
      await run(agent("support", [thrown]), "go");
    },
    async "interrupt and resume"() {
      const tools = [plain("pay", async () => "paid", { needsApproval: true })];
      const payer = agent("support", [[asks("pay", "c1")], [says("done")]], { tools });
      const paused = await run(payer, "pay");
      for (const item of paused.interruptions) paused.state.approve(item);
      await run(payer, paused.state);
    },
    async "interrupt and reject"() {
      const tools = [plain("pay", async () => "paid", { needsApproval: true })];
      const payer = agent("support", [[asks("pay", "c1")], [says("done")]], { tools });
      const paused = await run(payer, "pay");
      for (const item of paused.interruptions) paused.state.reject(item);
      await run(payer, paused.state);
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
  },
  begin(bridge, onError) {
    const processor = new OpenAIAgentsProcessor({ sink: bridge, tenant: "acme", onError });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    return { flush: () => processor.forceFlush(), counts: () => processor.counts };
  },
});
