// An agent of the AI SDK 7 that asks another agent, and waits for an approval, as trees. The models are scripted, so that
// it needs no key and no network. It needs Node >= 22 and the packages `ai` and `zod`.
//
//   node examples/ai-sdk.mjs
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { generateText, isStepCount, registerTelemetry, ToolLoopAgent, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

process.env.OTEL_TRACES_EXPORTER = "none";
const memory = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(memory)];
const tracing = setupTracing({ serviceName: "support-agent", spanProcessors });

// Once for the process: every call of the SDK is reported.
const telemetry = new AiSdkTelemetry({ sink: tracing.createBridge(), tenant: "acme" });
registerTelemetry(telemetry);

// An agent that a tool calls is a child run of the tool call.
const expert = new ToolLoopAgent({
  model: scripted("Order 17 was delivered twice."),
  telemetry: { functionId: "expert" },
});
const tools = {
  ask_expert: tool({
    inputSchema: z.object({ order: z.number() }),
    execute: async ({ order }) => (await expert.generate({ prompt: `Order ${order}?` })).text,
  }),
  refund: tool({
    inputSchema: z.object({ order: z.number() }),
    needsApproval: true,
    execute: async ({ order }) => `refunded order ${order}`,
  }),
};
const model = scripted(
  ["ask_expert", { order: 17 }],
  ["refund", { order: 17 }],
  "You have your money back.",
);
const options = { model, tools, stopWhen: isStepCount(5), telemetry: { functionId: "support" } };

try {
  const messages = [{ role: "user", content: "I was charged twice for order 17." }];
  const paused = await generateText({ ...options, messages });
  const { approvalId } = paused.content.find(({ type }) => type === "tool-approval-request");

  // A person answers, here at once. The next call resumes the run.
  const answer = {
    type: "tool-approval-response",
    approvalId,
    approved: true,
    reason: "delivered twice",
  };
  messages.push(...paused.responseMessages, { role: "tool", content: [answer] });
  const { text } = await generateText({ ...options, messages });
  console.log(text);

  await telemetry.flush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}

/** A model that gives these answers, one after the other: texts, or calls of a tool. */
function scripted(...answers) {
  let calls = 0;
  return new MockLanguageModelV4({
    modelId: "small-1",
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
  });
}
