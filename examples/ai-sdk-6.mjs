import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { setupTelemetry } from "entelix-otel/telemetry";
import { z } from "zod";

const telemetry = setupTelemetry({ serviceName: "shop" });
const sink = telemetry.createBridge({ captureContent: true }); // shows texts: off by default
const integration = new AiSdkTelemetry({ sink, tenant: "acme" });
const { tracer } = integration; // makes no spans itself

const look_up = tool({
  description: "an order by its number",
  inputSchema: z.object({ order: z.number() }),
  execute: ({ order }) => `order ${order}: on its way`,
});

// A script instead of a model, so that it runs without a key.
// Yours, with AI_GATEWAY_API_KEY: const model = "openai/gpt-5";
const call = { toolCallId: "call_1", toolName: "look_up", input: '{"order":17}' };
const model = new MockLanguageModelV3({
  modelId: "small-1",
  doGenerate: [
    answers("tool-calls", { type: "tool-call", ...call }),
    answers("stop", { type: "text", text: "Order 17 is on its way." }),
  ],
});

try {
  const { text } = await generateText({
    model,
    prompt: "Where is order 17?",
    tools: { look_up },
    stopWhen: stepCountIs(5),
    experimental_telemetry: {
      isEnabled: true,
      functionId: "support", // the name of the agent
      tracer,
      integrations: tracer,
    },
  });
  console.log(text);
} finally {
  await integration.flush();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}

function answers(unified, part) {
  const usage = { inputTokens: { total: 31 }, outputTokens: { total: 7 } };
  return { content: [part], finishReason: { unified }, usage, warnings: [] };
}
