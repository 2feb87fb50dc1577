import { generateText, isStepCount, registerTelemetry, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { setupTelemetry } from "entelix-otel/telemetry";
import { z } from "zod";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const integration = new AiSdkTelemetry({ sink, tenant: "acme", decidedBy: () => "ann" });
registerTelemetry(integration); // once for the process: every call of the SDK is reported

const inputSchema = z.object({ order: z.number() });
const tools = {
  look_up: tool({
    description: "an order by its number",
    inputSchema,
    execute: ({ order }) => `order ${order}: 41.90, delivered twice`,
  }),
  refund: tool({
    description: "pays an order back",
    inputSchema,
    needsApproval: true,
    execute: ({ order }) => `refunded order ${order}`,
  }),
};

// A script instead of a model, so that it runs without a key.
// Yours, with AI_GATEWAY_API_KEY: const model = "openai/gpt-5";
const model = new MockLanguageModelV4({
  modelId: "small-1",
  doGenerate: [asks("look_up"), asks("refund"), says("You have your money back.")],
});
const options = {
  model,
  tools,
  stopWhen: isStepCount(5),
  telemetry: { functionId: "support" }, // the name of the agent
};

const messages = [{ role: "user", content: "I was charged twice for order 17." }];
try {
  const paused = await generateText({ ...options, messages });
  const { approvalId } = paused.content.find(({ type }) => type === "tool-approval-request");

  // The run waits for a person, who approves: here at once, in a second run.
  const answer = { type: "tool-approval-response", approvalId, approved: true };
  messages.push(...paused.responseMessages, { role: "tool", content: [answer] });
  const { text } = await generateText({ ...options, messages });
  console.log(text);
} finally {
  await integration.flush();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
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
