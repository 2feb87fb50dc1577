// Runs tools inside the context of their span: what a tool does (an HTTP call, a query, a sub-agent)
// shows under the tool call that did it.
//
//   node examples/context-in-tools.mjs
import { setTimeout as sleep } from "node:timers/promises";
import { context, SpanKind, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";
import { runAgent } from "./support-agent.mjs";

const memory = new InMemorySpanExporter();
process.env.OTEL_TRACES_EXPORTER = "none";
const tracing = setupTracing({
  serviceName: "support-agent",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});
const bridge = tracing.createBridge();
const tracer = trace.getTracer("shop-client");

/** What an instrumented HTTP client does; it knows nothing of agents. */
function fetchOrder(order) {
  return tracer.startActiveSpan(`GET /orders/${order}`, { kind: SpanKind.CLIENT }, async (span) => {
    await sleep(12);
    span.end();
    return { order, state: "delivered" };
  });
}

const inside = (run, toolUseId, call) =>
  context.with(bridge.contextOf(run.tenant_id, run.run_id, toolUseId), call);

const tools = {
  lookup_order: ({ order }) => fetchOrder(order),
  // A sub-agent names its parent run; under which of its tool calls it belongs, the context says.
  ask_expert: (_input, { run_id }) =>
    runAgent({
      sink: bridge,
      agent: "expert",
      parent_run_id: run_id,
      tools,
      plan: [{ tool: "lookup_order", input: { order: 18 } }],
      inside,
    }),
};

try {
  await runAgent({
    sink: bridge,
    tools,
    plan: [
      { tool: "lookup_order", input: { order: 17 } },
      { tool: "ask_expert", input: {} },
    ],
    inside,
  });

  await tracing.forceFlush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}
