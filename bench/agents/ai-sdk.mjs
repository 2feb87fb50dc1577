import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { langfuse, ourSides, stock } from "./telemetry.mjs";
import { AGENT, answerAfter, MODEL, question, result, SYSTEM, TOOL } from "./texts.mjs";

const nothing = () => {};
const runs = ({ execute }) => execute();

/** Does nothing. What the SDK itself spends as soon as anything listens is not the cost of an instrumentation. */
export const IDLE = {
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

/** Name to what makes a telemetry integration and its flush. */
export const SIDES = {
  ...ourSides("ai-sdk", ({ AiSdkTelemetry }, sink) => {
    const handler = new AiSdkTelemetry({ sink, tenant: "acme" });
    return { handler, flush: () => handler.flush() };
  }),
  async own(given) {
    const { OpenTelemetry } = await import("@ai-sdk/otel");
    const { flush, provider } = await stock(given);
    return { handler: new OpenTelemetry({ tracer: provider.getTracer("bench") }), flush };
  },
  async langfuse(given) {
    const { LangfuseVercelAiSdkIntegration } = await import("@langfuse/vercel-ai-sdk");
    const { flush, provider } = await langfuse(given);
    const tracer = provider.getTracer("bench");
    return { handler: new LangfuseVercelAiSdkIntegration({ tracer }), flush };
  },
};

export function workload({ hold, size, turns }) {
  const model = new MockLanguageModelV4({
    provider: "acme.chat",
    modelId: MODEL,
    async doGenerate({ prompt }) {
      // The mock keeps each request for tests.
      model.doGenerateCalls.length = 0;
      const done = (prompt.length - 2) / 2;
      if (done === turns) await hold?.();
      return answerAfter(done, turns);
    },
  });
  const search = tool({
    description: "Searches documents",
    inputSchema: z.object({ query: z.string(), limit: z.number() }),
    execute: async () => result(size),
  });
  return {
    play: (integrations) =>
      generateText({
        model,
        tools: { [TOOL]: search },
        system: SYSTEM,
        prompt: question(),
        stopWhen: isStepCount(turns + 1),
        telemetry: { functionId: AGENT, integrations },
      }),
  };
}
