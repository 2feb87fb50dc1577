// What a careful person writes by hand against the SDK for the same spans, attributes and ids:
// attributes at the start, the usual way. `equal.mjs` shows that the exported spans are the bridge's.
import { ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import { built } from "./built.mjs";

const { RunIds } = await built("context.mjs");

/** The ids of the next span, as a hand-written id generator would be told them. */
export const nextIds = {
  traceId: "",
  spanId: "",
  generateTraceId: () => nextIds.traceId,
  generateSpanId: () => nextIds.spanId,
};

export function handWrittenRun(tracer, events) {
  const started = events[0];
  const ids = RunIds.fromUuid(started.run_id);
  nextIds.traceId = ids.traceId;
  nextIds.spanId = ids.spanId;
  const run = tracer.startSpan(
    `invoke_agent ${started.agent}`,
    {
      kind: SpanKind.INTERNAL,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": started.agent,
        "entelix.run_id": started.run_id,
        "entelix.tenant_id": started.tenant_id,
      },
    },
    ROOT_CONTEXT,
  );
  const inside = trace.setSpan(ROOT_CONTEXT, run);
  for (let k = 1; k < 7; k += 2) {
    const start = events[k];
    nextIds.spanId = ids.childSpanId("t", start.tool_use_id);
    const call = tracer.startSpan(
      `execute_tool ${start.tool}`,
      {
        kind: SpanKind.INTERNAL,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": start.tool,
          "gen_ai.tool.call.id": start.tool_use_id,
          "gen_ai.tool.type": "function",
          "gen_ai.agent.name": started.agent,
          "entelix.run_id": start.run_id,
          "entelix.tenant_id": start.tenant_id,
          "entelix.tool.version": start.tool_version,
        },
      },
      inside,
    );
    call.setAttribute("entelix.tool.outcome", "complete");
    call.end();
  }
  const { usage } = events[7];
  run.setAttributes({
    "entelix.run.outcome": "complete",
    "entelix.run.tool_calls": 3,
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "entelix.usage.requests": usage.requests,
    "entelix.usage.tool_calls": usage.tool_calls,
    "entelix.agent.usage.cost": usage.cost_usd,
  });
  run.end();
}
