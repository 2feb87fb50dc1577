// A model and a tool that ask the service at `SHOP`, beside stock instrumentation of `fetch`.
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { generateText, isStepCount, streamText, tool } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { z } from "zod";

new UndiciInstrumentation().enable();

const ask = async (path) => (await fetch(process.env.SHOP + path)).text();
const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 2 } };
const STOP = { finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
const CALL = { type: "tool-call", toolCallId: "c1", toolName: "look", input: "{}" };

const model = new MockLanguageModelV4({
  modelId: "small-1",
  async doGenerate({ prompt }) {
    const text = await ask("/model");
    const said = prompt.some(({ role }) => role === "tool") ? { type: "text", text } : CALL;
    return { content: [said], ...STOP, warnings: [] };
  },
  async doStream() {
    const delta = await ask("/model");
    const parts = [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta },
    ];
    const chunks = [...parts, { type: "text-end", id: "t" }, { type: "finish", ...STOP }];
    return { stream: simulateReadableStream({ chunks }) };
  },
});
const tools = { look: tool({ inputSchema: z.object({}), execute: () => ask("/tool") }) };
const stopWhen = isStepCount(3);
await generateText({ model, tools, stopWhen, prompt: "hi", telemetry: { functionId: "agent" } });
await streamText({ model, prompt: "hi", telemetry: { functionId: "streams" } }).text;
