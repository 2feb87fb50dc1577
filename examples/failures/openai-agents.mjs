// Every failure of `cases.mjs` in the OpenAI Agents SDK.
//
//   node examples/failures/openai-agents.mjs
import {
  Agent,
  getCurrentSpan,
  run,
  setTraceProcessors,
  tool,
  Usage,
  withGenerationSpan,
} from "@openai/agents-core";
import { renderForLlm } from "entelix-otel";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { runAgent } from "entelix-otel/runtime";
import { z } from "zod";
import { report } from "./report.mjs";

await report(async (failure, sink) => {
  const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
  setTraceProcessors([processor]);
  const abort = new AbortController();
  if (failure.cut === "user") setTimeout(() => abort.abort(), 30);
  const start = (signal) =>
    run(agent("support", failure, processor, signal), "Go on.", { signal }).catch(() => {});
  // The SDK has no deadline; a run of `entelix-otel/runtime` around it has.
  if (failure.cut === "deadline") {
    const options = { sink, agent: "support", tenant: "acme", deadlineMs: 30 };
    await runAgent(options, (outer) => start(outer.signal)).catch(() => {});
  } else await start(abort.signal);
  await processor.forceFlush();
});

/** One question to the model, the tools that it asks for, and its last word. */
function agent(name, failure, processor, signal) {
  const { asks = [], child, model, ownCode, told, tools = {} } = failure;
  const errorFunction = told ? (_, error) => renderForLlm(error, { origin: "tool" }) : null;
  return new Agent({
    name,
    instructions: () => {
      if (ownCode !== undefined) throw ownCode();
      return "Answer.";
    },
    tools: asks.map((name) => {
      const work = tools[name] ?? (() => run(agent("expert", child, processor), "Go on."));
      return tool({
        name,
        description: name,
        parameters: z.object({}),
        errorFunction,
        // In the call's span: so the bridge sees what was thrown, and not its text alone.
        execute: () => processor.withSpan(getCurrentSpan(), () => work({ signal })),
      });
    }),
    model: scripted(model, asks),
  });
}

/** A model that asks for the tools, and then says its last word. It traces as OpenAI's do. */
function scripted(error, asks) {
  const calls = asks.map((name) => ({
    type: "function_call",
    callId: `call_${name}`,
    name,
    arguments: "{}",
  }));
  const last = [
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] },
  ];
  const answers = calls.length > 0 ? [calls, last] : [last];
  const getResponse = () =>
    withGenerationSpan(async (span) => {
      span.spanData.model = "small-1";
      if (error !== undefined) {
        // As OpenAI's models do.
        const thrown = error();
        span.setError({ message: "Error", data: { error: String(thrown) } });
        throw thrown;
      }
      const output = answers.shift();
      span.spanData.output = output;
      const usage = new Usage({ requests: 1, inputTokens: 31, outputTokens: 7, totalTokens: 38 });
      return { output, usage };
    });
  return { getResponse };
}
