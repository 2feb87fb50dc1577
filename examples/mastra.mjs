import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { MastraTelemetry } from "entelix-otel/mastra";
import { setupTelemetry } from "entelix-otel/telemetry";
import { z } from "zod";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const observer = new MastraTelemetry({ sink, tenant: "acme", decidedBy: () => "ann" });
const observability = new Observability({
  configs: { main: { serviceName: "shop", bridge: observer } },
});

const inputSchema = z.object({ order: z.number() });
const look_up = createTool({
  id: "look_up",
  description: "an order by its number",
  inputSchema,
  execute: async ({ order }) => `order ${order}: 41.90, delivered twice`,
});
const refund = createTool({
  id: "refund",
  description: "pays an order back",
  inputSchema,
  requireApproval: true,
  execute: async ({ order }) => `refunded order ${order}`,
});
const support = new Agent({
  id: "support",
  name: "support",
  instructions: "Help the customer.",
  tools: { look_up, refund },
  // A script instead of a model, so that it runs without a key.
  // Yours, with OPENAI_API_KEY: model: "openai/gpt-5",
  model: scripted(asks("look_up"), asks("refund"), says("You have your money back.")),
});
const mastra = new Mastra({
  agents: { support },
  logger: false,
  observability,
  storage: new InMemoryStore(),
});

try {
  const agent = mastra.getAgent("support");
  const { runId, suspendPayload } = await agent.generate("I was charged twice for order 17.");

  // The run waits for a person, who approves: here at once, in a second run.
  const { toolCallId } = suspendPayload;
  const { text } = await agent.approveToolCallGenerate({ runId, toolCallId });
  console.log(text);
} finally {
  await observer.flush();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}

/** A model of the AI SDK that gives these answers, one after the other. */
function scripted(...answers) {
  const doGenerate = async () => answers.shift();
  const provider = { specificationVersion: "v3", provider: "acme", supportedUrls: {} };
  return { ...provider, modelId: "small-1", doGenerate };
}

function asks(toolName) {
  const call = { toolCallId: `call_${toolName}`, toolName, input: '{"order":17}' };
  return answers("tool-calls", { type: "tool-call", ...call });
}

function says(text) {
  return answers("stop", { type: "text", text });
}

function answers(unified, part) {
  const usage = { inputTokens: { total: 31 }, outputTokens: { total: 7 } };
  return { content: [part], finishReason: { unified }, usage, warnings: [] };
}
