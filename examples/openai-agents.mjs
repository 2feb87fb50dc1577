// A handoff between two agents of the OpenAI Agents SDK, as one tree. The model is scripted, so that it
// needs no key and no network; with `@openai/agents` leave `model` out.
//
//   node examples/openai-agents.mjs
import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  run,
  setTraceProcessors,
  tool,
  Usage,
  withGenerationSpan,
} from "@openai/agents-core";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

process.env.OTEL_TRACES_EXPORTER = "none";
const memory = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(memory)];
const tracing = setupTracing({ serviceName: "support-agent", spanProcessors });

// The processor tells the bridge what the SDK's traces say. `addTraceProcessor` would keep the others.
const processor = new OpenAIAgentsProcessor({ sink: tracing.createBridge(), tenant: "acme" });
setTraceProcessors([processor]);

const lookUp = tool({
  name: "lookup_order",
  description: "Says what is known of an order.",
  parameters: z.object({ order: z.number() }),
  execute: async ({ order }) => {
    await sleep(25);
    return { order, state: "delivered" };
  },
});
const refund = tool({
  name: "refund",
  description: "Pays an order back.",
  parameters: z.object({ order: z.number() }),
  execute: async () => {
    throw new Error("the payment gateway is away");
  },
});

const billing = new Agent({
  name: "Billing",
  tools: [lookUp, refund],
  model: scripted([
    [asks("lookup_order", { order: 17 }), asks("refund", { order: 17 })],
    [says("A colleague will refund you.")],
  ]),
});
const triage = new Agent({
  name: "Triage",
  handoffs: [billing],
  model: scripted([[asks("transfer_to_Billing", {})]]),
});

try {
  const { finalOutput } = await run(triage, "I want my money back for order 17.");
  console.log(finalOutput);

  await processor.forceFlush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}

/** A model that gives these answers, one after the other, and traces them as OpenAI's do. */
function scripted(answers) {
  const getResponse = () =>
    withGenerationSpan(async (span) => {
      span.spanData.model = "small-1";
      await sleep(10);
      span.spanData.usage = { input_tokens: 31, output_tokens: 7 };
      const usage = new Usage({ requests: 1, inputTokens: 31, outputTokens: 7, totalTokens: 38 });
      return { output: answers.shift(), usage };
    });
  return { getResponse };
}

function asks(name, input) {
  const text = JSON.stringify(input);
  return { type: "function_call", callId: `call_${name}`, name, arguments: text };
}

function says(text) {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}
