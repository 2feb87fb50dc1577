import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { AGENT, MODEL, payloadOf, SYSTEM, TOOL_NAMES, USAGE } from "./payload.mjs";

const usage = {
  inputTokens: { total: USAGE.input, cacheRead: USAGE.cached },
  outputTokens: { total: USAGE.output },
};

/** Answers by what it is asked: calls of tools, then the answer. */
const model = new MockLanguageModelV4({
  provider: "acme.chat",
  modelId: MODEL,
  async doGenerate({ prompt }) {
    const [, n] = /customer (\d+)/.exec(JSON.stringify(prompt));
    const { answer, calls } = payloadOf(Number(n));
    const isReady = prompt.at(-1).role === "tool";
    // The mock keeps each request for tests.
    model.doGenerateCalls.length = 0;
    return {
      content: isReady
        ? [{ type: "text", text: answer }]
        : calls.map(({ id, name, args }) => ({
            type: "tool-call",
            toolCallId: id,
            toolName: name,
            input: JSON.stringify(args),
          })),
      finishReason: { unified: isReady ? "stop" : "tool-calls", raw: undefined },
      usage,
      warnings: [],
      response: { id: "resp-1", modelId: `${MODEL}-2026` },
    };
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
