import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { claudeAgent } from "entelix-otel/claude-agent";
import { setupTelemetry } from "entelix-otel/telemetry";
import { z } from "zod";
// A script instead of a model. With ANTHROPIC_API_KEY, remove this line, and `env` below.
import { env } from "./scripted-claude.mjs";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const claude = claudeAgent({ sink, tenant: "acme", agent: "support", decidedBy: () => "ann" });

const input = { order: z.string() };
const lookUp = tool("look_up", "Looks an order up", input, async () => says("delivered twice"));
const refund = tool("refund", "Pays an order back", input, async () => says("refunded"));

const options = {
  model: "claude-sonnet-4-5",
  mcpServers: { shop: createSdkMcpServer({ name: "shop", tools: [lookUp, refund] }) },
  // A person decides about each call: here at once.
  canUseTool: async (_name, updatedInput) => ({ behavior: "allow", updatedInput }),
  env,
};

try {
  const prompt = "I was charged twice for order 17.";
  for await (const message of claude.query(query, { prompt, options })) {
    if (message.type === "result") console.log(message.result);
  }
} finally {
  await claude.flush();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}

function says(text) {
  return { content: [{ type: "text", text }] };
}
