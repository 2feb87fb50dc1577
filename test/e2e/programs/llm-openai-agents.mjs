// Two runs of an agent of the OpenAI Agents SDK, sent as the environment says: one that answers although a tool fails,
// and one whose model fails. The model is scripted, and traces as OpenAI's do.
import {
  Agent,
  run,
  setTraceProcessors,
  tool,
  Usage,
  withResponseSpan,
  withTrace,
} from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";

const tracing = setupTracing({ serviceName: "llm-openai-agents", shutdownTimeoutMs: 180_000 });
const processor = new OpenAIAgentsProcessor({ sink: tracing.createBridge(), tenant: "acme" });
setTraceProcessors([processor]);

const parameters = z.object({ order: z.number() });
const lookUp = tool({
  name: "look_up",
  description: "What is known of an order.",
  parameters,
  execute: async ({ order }) => ({ order, state: "delivered" }),
});
const refund = tool({
  name: "refund",
  description: "Pays an order back.",
  parameters,
  execute: async () => {
    throw new RangeError("the payment gateway is away");
  },
});

/** A model that gives these answers, each with its input and output tokens. */
function scripted(script) {
  const getResponse = (request) =>
    withResponseSpan(async (span) => {
      span.spanData._input = request.input;
      const turn = script.shift();
      if (turn instanceof Error) throw turn;
      const [output, inputTokens, outputTokens] = turn;
      span.spanData._response = {
        id: "resp-1",
        model: "small-1",
        status: "completed",
        output: output.map(asAnswered),
        usage: { input_tokens: inputTokens, output_tokens: outputTokens },
      };
      const totalTokens = inputTokens + outputTokens;
      const usage = new Usage({ requests: 1, inputTokens, outputTokens, totalTokens });
      return { output, usage, responseId: "resp-1" };
    });
  return { getResponse };
}

/** As the Responses API writes it. */
const asAnswered = ({ type, callId, name, arguments: input, ...rest }) =>
  type === "function_call" ? { type, call_id: callId, name, arguments: input } : { type, ...rest };

const asks = (name, callId) => ({
  type: "function_call",
  callId,
  name,
  arguments: JSON.stringify({ order: 17 }),
  status: "completed",
});

const says = (text) => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});

const ask = (name, script, groupId) =>
  withTrace(
    "Agent workflow",
    () =>
      run(
        new Agent({ name, tools: [lookUp, refund], model: scripted(script) }),
        "Refund order 17.",
      ),
    { groupId },
  );

const answers = [
  [[asks("look_up", "call_1"), asks("refund", "call_2")], 31, 7],
  [[says("A colleague will refund you.")], 52, 9],
];
await ask("answers", answers, "openai-agents-1");
await ask("fails", [new Error("the model is away")], "openai-agents-2").catch(() => undefined);

await processor.forceFlush();
await tracing.shutdown();
