import {
  Agent,
  run,
  setDefaultModelProvider,
  setTraceProcessors,
  tool,
  Usage,
  withGenerationSpan,
} from "@openai/agents";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { setupTelemetry } from "entelix-otel/telemetry";
import { z } from "zod";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", decidedBy: () => "ann" });
setTraceProcessors([processor]); // replaces OpenAI's. To keep it: addTraceProcessor(processor)

const parameters = z.object({ order: z.number() });
const lookUp = tool({
  name: "look_up",
  description: "an order by its number",
  parameters,
  execute: ({ order }) => `order ${order}: 41.90, delivered twice`,
});
const refund = tool({
  name: "refund",
  description: "pays an order back",
  parameters,
  needsApproval: true,
  execute: ({ order }) => `refunded order ${order}`,
});
const billing = new Agent({ name: "Billing", tools: [lookUp, refund] });
const triage = new Agent({ name: "Triage", handoffs: [billing] });

// A script instead of a model, so that it runs without a key.
// For OpenAI's models, with OPENAI_API_KEY, remove this call.
setDefaultModelProvider(
  scripted(
    asks("transfer_to_Billing", {}),
    asks("look_up", { order: 17 }),
    asks("refund", { order: 17 }),
    says("You have your money back."),
  ),
);

try {
  // `noteResult` says whether the run waits: the SDK's spans do not.
  const paused = processor.noteResult(await run(triage, "I was charged twice for order 17."));

  // A person approves: here at once. The run goes on.
  for (const item of paused.interruptions) paused.state.approve(item);
  const { finalOutput } = processor.noteResult(await run(triage, paused.state));
  console.log(finalOutput);
} finally {
  await processor.forceFlush();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}

/** Gives these answers one after the other, each in a span, as OpenAI's models do. */
function scripted(...answers) {
  const getResponse = ({ input }) =>
    withGenerationSpan(async ({ spanData }) => {
      const output = [answers.shift()];
      const usage = { input_tokens: 31, output_tokens: 7 };
      Object.assign(spanData, { model: "small-1", input, output, usage });
      return { output, usage: new Usage({ requests: 1, inputTokens: 31, outputTokens: 7 }) };
    });
  return { getModel: () => ({ getResponse }) };
}

function asks(name, input) {
  const text = JSON.stringify(input);
  return { type: "function_call", callId: `call_${name}`, name, arguments: text };
}

function says(text) {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}
