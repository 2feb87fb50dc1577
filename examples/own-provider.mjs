// Uses a tracer provider of your own in place of `setupTracing`: one option makes the trace id of a
// root run its run id.
//
//   node examples/own-provider.mjs
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  NodeTracerProvider,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { runAgent } from "./support-agent.mjs";

/** Runs the agent once with a provider, and says where its trace is. */
async function tryOut(what, options) {
  const memory = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    ...options,
    // In place of the memory: new OTLPTraceExporter() of @opentelemetry/exporter-trace-otlp-http.
    spanProcessors: [new BatchSpanProcessor(memory)],
  });
  const bridge = new Bridge({
    tracerProvider: provider,
    onError: (error, where) => console.log(`  ${where}: ${error.message}`),
  });
  console.log(what);
  const { run_id } = await runAgent({
    sink: bridge,
    plan: [{ tool: "lookup_order", input: { order: 17 } }],
  });
  // The bridge first: spans that end after their provider's shutdown are lost.
  await bridge.shutdown();
  const root = memory.getFinishedSpans().find((span) => span.parentSpanContext === undefined);
  await provider.shutdown();

  const { traceId } = root.spanContext();
  console.log(`  run id    ${run_id}`);
  console.log(`  trace id  ${traceId}`);
  console.log(`  equal     ${traceId === run_id.replaceAll("-", "") ? "yes" : "no"}`);
}

await tryOut("with idGenerator: createIdGenerator()", { idGenerator: createIdGenerator() });
await tryOut("without it", {});
