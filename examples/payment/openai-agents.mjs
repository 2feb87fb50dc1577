// A payment that waits for a person, in the OpenAI Agents SDK. A person can approve or reject a call there,
// but not edit it.
//
//   node examples/payment/openai-agents.mjs
import {
  Agent,
  Runner,
  setTraceProcessors,
  tool,
  Usage,
  withGenerationSpan,
} from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { z } from "zod";
import { report } from "./report.mjs";

const answers = {
  approve: (state, item) => state.approve(item),
  reject: (state, item) => state.reject(item, { message: "too much" }),
};

await report(Object.keys(answers), async (decision, sink) => {
  // The SDK does not say who decided, so the application does.
  const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", decidedBy: () => "eve" });
  setTraceProcessors([processor]);
  const runner = new Runner({ groupId: "t1" });
  const agent = treasurer();
  const { interruptions, state } = await runner.run(agent, "Pay 900 to Ada.");
  for (const item of interruptions) answers[decision](state, item);
  await runner.run(agent, state);
  await processor.forceFlush();
});

function treasurer() {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: async ({ amount }) => `paid ${amount}`,
  });
  const call = {
    type: "function_call",
    callId: "call_1",
    name: "pay",
    arguments: '{"amount":900}',
  };
  const last = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "Done." }],
  };
  return new Agent({ name: "treasurer", tools: [pay], model: scripted([[call], [last]]) });
}

/** A model that gives these answers, one after the other, and traces them as OpenAI's do. */
function scripted(answers) {
  const getResponse = ({ input }) =>
    withGenerationSpan(async (span) => {
      const output = answers.shift();
      const asked = typeof input === "string" ? [{ role: "user", content: input }] : input;
      Object.assign(span.spanData, { model: "small-1", input: asked, output });
      const usage = new Usage({ requests: 1, inputTokens: 31, outputTokens: 7, totalTokens: 38 });
      return { output, usage };
    });
  return { getResponse };
}
