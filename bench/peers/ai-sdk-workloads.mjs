import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { AGENT, answerTo, MODEL, payloadOf, SYSTEM, TOOL_NAMES } from "./payload.mjs";

const model = new MockLanguageModelV4({
  provider: "acme.chat",
  modelId: MODEL,
  async doGenerate(request) {
    // The mock keeps each request for tests.
    model.doGenerateCalls.length = 0;
    return answerTo(request);
  },
});

const tools = Object.fromEntries(
  TOOL_NAMES.map((name, k) => [
    name,
    tool({
      description: name,
      inputSchema: z.object({ query: z.string(), limit: z.number() }),
      execute: async ({ query }) =>
        payloadOf(Number(/customer (\d+)/.exec(query)[1])).calls[k].output,
    }),
  ]),
);

const nothing = () => {};
const runs = ({ execute }) => execute();

/** Listens and does nothing: what the SDK itself spends as soon as anything listens is not the listener's cost. */
const IDLE = {
  onStart: nothing,
  onStepStart: nothing,
  onLanguageModelCallStart: nothing,
  onLanguageModelCallEnd: nothing,
  onToolExecutionStart: nothing,
  onToolExecutionEnd: nothing,
  onStepEnd: nothing,
  onEnd: nothing,
  executeLanguageModelCall: runs,
  executeTool: runs,
};

/** The SDK's own loop: two model calls and three tool calls. */
function play(integration = IDLE, { question }) {
  const telemetry = { functionId: AGENT, integrations: integration };
  return generateText({
    model,
    tools,
    system: SYSTEM,
    prompt: question,
    stopWhen: isStepCount(3),
    telemetry,
  });
}

export const WORKLOADS = {
  agent: { prepare: payloadOf, play, framework: true },
};
