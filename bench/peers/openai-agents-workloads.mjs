import { randomBytes } from "node:crypto";
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
import { IDLE } from "./openai-agents-variants.mjs";
import { AGENT, MODEL, payloadOf, SYSTEM, TOOL_NAMES, USAGE } from "./payload.mjs";

const says = (text) => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});

const asks = ({ id, name, args }) => ({
  type: "function_call",
  name,
  callId: id,
  arguments: JSON.stringify(args),
  status: "completed",
});

/** As the Responses API answers. */
function responseOf(id, output) {
  return {
    id,
    model: `${MODEL}-2026`,
    status: "completed",
    instructions: SYSTEM,
    // Read from JSON, as the client reads it: the engine keeps other objects in another, slower form.
    output: JSON.parse(
      JSON.stringify(
        output.map(({ callId, ...item }) =>
          item.type === "function_call" ? { ...item, call_id: callId } : item,
        ),
      ),
    ),
    usage: {
      input_tokens: USAGE.input,
      output_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

/** Answers by what it is asked, and traces as the models of `@openai/agents-openai` do. */
class ScriptedModel {
  getResponse(request) {
    return withResponseSpan(async (span) => {
      const { input } = request;
      const { calls, answer } = payloadOf(Number(/customer (\d+)/.exec(JSON.stringify(input))[1]));
      const ready = Array.isArray(input) && input.at(-1).type === "function_call_result";
      const output = ready ? [says(answer)] : calls.map(asks);
      span.spanData.response_id = "resp-1";
      span.spanData._input = input;
      span.spanData._response = responseOf("resp-1", output);
      const usage = new Usage({
        requests: 1,
        inputTokens: USAGE.input,
        outputTokens: USAGE.output,
      });
      return { output, usage, responseId: "resp-1" };
    });
  }
}

const agent = new Agent({
  name: AGENT,
  instructions: SYSTEM,
  model: new ScriptedModel(),
  tools: TOOL_NAMES.map((name, k) =>
    tool({
      name,
      description: name,
      parameters: z.object({ query: z.string(), limit: z.number() }),
      execute: async ({ query }) =>
        payloadOf(Number(/customer (\d+)/.exec(query)[1])).calls[k].output,
    }),
  ),
});

const hex = (bytes) => randomBytes(bytes).toString("hex");

/**
 * All that a processor is told of a run, made before the clock starts; `begin` and `end` are what the SDK fills a span
 * in with.
 */
function spansOf(n) {
  const { question, calls, answer } = payloadOf(n);
  const traceId = `trace_${hex(16)}`;
  const span = (parent, spanData, begin, end) => ({
    span: {
      type: "trace.span",
      traceId,
      spanId: `span_${hex(12)}`,
      parentId: parent?.span.spanId ?? null,
      spanData,
      error: null,
      startedAt: new Date().toISOString(),
      endedAt: null,
      traceMetadata: {},
    },
    begin,
    end,
  });
  const asked = [{ type: "message", role: "user", content: question }];
  const results = calls.map(({ id, name, output }) => ({
    type: "function_call_result",
    name,
    callId: id,
    status: "completed",
    output: { type: "text", text: output },
  }));
  const top = span(
    undefined,
    { type: "agent", name: AGENT, handoffs: [], tools: TOOL_NAMES },
    {},
    {},
  );
  const response = (id, input, output) =>
    span(
      top,
      { type: "response" },
      { _input: input },
      { response_id: id, _response: responseOf(id, output) },
    );
  return {
    trace: { type: "trace", traceId, name: "Agent workflow", groupId: "t1", metadata: {} },
    agent: top,
    spans: [
      response("resp-1", asked, calls.map(asks)),
      ...calls.map(({ name, args, output }) =>
        span(
          top,
          { type: "function", name, input: "", output: "" },
          { input: JSON.stringify(args) },
          { output },
        ),
      ),
      response("resp-2", [...asked, ...calls.map(asks), ...results], [says(answer)]),
    ],
  };
}

/** Calls a processor as the SDK does: each callback is waited for. */
async function drive(processor, { trace, agent, spans }) {
  await processor.onTraceStart(trace);
  await processor.onSpanStart(agent.span);
  for (const each of spans) {
    const started = processor.onSpanStart(each.span);
    // The SDK sets a span's input just after its start.
    Object.assign(each.span.spanData, each.begin);
    await started;
    await finish(processor, each);
  }
  await finish(processor, agent);
  await processor.onTraceEnd(trace);
}

function finish(processor, { span, end }) {
  Object.assign(span.spanData, end);
  span.endedAt = span.startedAt;
  return processor.onSpanEnd(span);
}

let active;

export const WORKLOADS = {
  callbacks: { prepare: spansOf, play: drive, framework: false },
  agent: {
    prepare: (n) => payloadOf(n).question,
    play(processor = IDLE, question) {
      if (active !== processor) {
        active = processor;
        setTracingDisabled(false);
        setTraceProcessors([processor]);
      }
      return run(agent, question);
    },
    framework: true,
  },
};
