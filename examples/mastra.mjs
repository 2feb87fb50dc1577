// An agent of Mastra that asks another agent, waits for an approval, as trees. The models are
// scripted, so that it needs no key and no network. It needs Node >= 22.13 and the packages `@mastra/core`,
// `@mastra/observability` and `zod`.
//
//   node examples/mastra.mjs
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { MastraTelemetry } from "entelix-otel/mastra";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

process.env.OTEL_TRACES_EXPORTER = "none";
const memory = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(memory)];
const tracing = setupTracing({ serviceName: "support-agent", spanProcessors });

// The bridge of Mastra's observability: every run is reported, and code runs inside its span.
const telemetry = new MastraTelemetry({ sink: tracing.createBridge(), tenant: "acme" });
const observability = new Observability({
  configs: { main: { serviceName: "support-agent", bridge: telemetry } },
});

// An agent that another one calls is a child run of the tool call.
const expert = new Agent({
  id: "expert",
  name: "expert",
  description: "knows all orders",
  instructions: "Look at the order.",
  model: scripted("Order 17 was delivered twice."),
});
const refund = createTool({
  id: "refund",
  description: "refunds an order",
  inputSchema: z.object({ order: z.number() }),
  requireApproval: true,
  execute: async ({ order }) => `refunded order ${order}`,
});
const support = new Agent({
  id: "support",
  name: "support",
  instructions: "Help the customer.",
  model: scripted(
    ["agent-expert", { prompt: "Order 17?" }],
    ["refund", { order: 17 }],
    "You have your money back.",
  ),
  agents: { expert },
  tools: { refund },
});
const storage = new InMemoryStore();
const mastra = new Mastra({ agents: { support }, logger: false, observability, storage });

try {
  const agent = mastra.getAgent("support");
  const { runId, suspendPayload } = await agent.generate("I was charged twice for order 17.");

  // A person answers, here at once, and the run resumes.
  const { toolCallId } = suspendPayload;
  const { text } = await agent.approveToolCallGenerate({ runId, toolCallId });
  console.log(text);

  await telemetry.flush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}

/** A model that gives these answers, one after the other: texts, or calls of a tool. */
function scripted(...answers) {
  let calls = 0;
  return {
    specificationVersion: "v3",
    provider: "acme.chat",
    modelId: "small-1",
    supportedUrls: {},
    async doGenerate() {
      const answer = answers.shift();
      const isText = typeof answer === "string";
      calls += 1;
      return {
        content: [
          isText
            ? { type: "text", text: answer }
            : {
                type: "tool-call",
                toolCallId: `call_${calls}`,
                toolName: answer[0],
                input: JSON.stringify(answer[1]),
              },
        ],
        finishReason: { unified: isText ? "stop" : "tool-calls", raw: undefined },
        usage: { inputTokens: { total: 31 }, outputTokens: { total: 7 } },
        warnings: [],
      };
    },
  };
}
