import {
  Agent,
  run,
  setTraceProcessors,
  setTracingDisabled,
  tool,
  Usage,
  withResponseSpan,
} from "@openai/agents-core";
import { z } from "zod";
import { langfuse, ourSides, stock } from "./telemetry.mjs";
import { AGENT, ANSWER, callOf, MODEL, question, result, SYSTEM, TOOL, USAGE } from "./texts.mjs";

const nothing = async () => {};

/** Does nothing: the SDK's own tracing costs as much without a processor's work. */
export const IDLE = {
  onTraceStart: nothing,
  onTraceEnd: nothing,
  onSpanStart: nothing,
  onSpanEnd: nothing,
  forceFlush: nothing,
  shutdown: nothing,
};

const openInference = (setup) => async (given) => {
  const { OpenAIAgentsInstrumentation } = await import(
    "@arizeai/openinference-instrumentation-openai-agents"
  );
  const { flush, provider } = await setup(given);
  let handler;
  const sdk = {
    setTraceProcessors([made]) {
      handler = made;
    },
    addTraceProcessor() {},
  };
  new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(sdk);
  return { handler, flush };
};

/** Name to what makes a tracing processor and its flush. */
export const SIDES = {
  ...ourSides("openai-agents", ({ OpenAIAgentsProcessor }, sink) => {
    const handler = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    return { handler, flush: () => handler.forceFlush() };
  }),
  openinference: openInference(stock),
  // Langfuse has no instrumentation of its own for this SDK: its docs name this one.
  langfuse: openInference(langfuse),
};

/** As the Responses API answers. */
function responseOf(output) {
  const items = output.map(({ callId, ...item }) =>
    item.type === "function_call" ? { ...item, call_id: callId } : item,
  );
  return {
    id: "resp-1",
    model: `${MODEL}-2026`,
    status: "completed",
    instructions: SYSTEM,
    // Read from JSON, as the client reads it: the engine keeps other objects in a slower form.
    output: JSON.parse(JSON.stringify(items)),
    usage: {
      input_tokens: USAGE.input,
      output_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function outputAfter(done, turns) {
  if (done === turns) {
    const content = [{ type: "output_text", text: ANSWER }];
    return [{ type: "message", role: "assistant", status: "completed", content }];
  }
  const { id, name, args } = callOf(done);
  const call = { callId: id, arguments: JSON.stringify(args), status: "completed" };
  return [{ type: "function_call", name, ...call }];
}

let active;

export function workload({ size, turns }) {
  /** Traces as the models of `@openai/agents-openai` do. */
  class ScriptedModel {
    getResponse({ input }) {
      return withResponseSpan(async (span) => {
        const done = Array.isArray(input) ? (input.length - 1) / 2 : 0;
        const output = outputAfter(done, turns);
        span.spanData.response_id = "resp-1";
        span.spanData._input = input;
        span.spanData._response = responseOf(output);
        const usage = new Usage({
          requests: 1,
          inputTokens: USAGE.input,
          outputTokens: USAGE.output,
        });
        return { output, usage, responseId: "resp-1" };
      });
    }
  }
  const search = tool({
    name: TOOL,
    description: "Searches documents",
    parameters: z.object({ query: z.string(), limit: z.number() }),
    execute: async () => result(size),
  });
  const model = new ScriptedModel();
  const agent = new Agent({ name: AGENT, instructions: SYSTEM, model, tools: [search] });
  return {
    play(processor) {
      if (active !== processor) {
        active = processor;
        setTracingDisabled(false);
        setTraceProcessors([processor]);
      }
      return run(agent, question(), { maxTurns: turns + 5 });
    },
  };
}
