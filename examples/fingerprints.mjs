// What failures of one cause have in common: on the spans of failed runs and tool calls, and as a metric.
//
//   node examples/fingerprints.mjs
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { runAgent } from "entelix-otel/runtime";

/** As the client of a model provider throws it. */
class RateLimitError extends Error {
  status = 429;
}

const spans = new InMemorySpanExporter();
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const tracerProvider = new NodeTracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new SimpleSpanProcessor(spans)],
});
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: metrics })],
});
const sink = new Bridge({ tracerProvider, meterProvider });

/** Asks its model and a tool; goes on without the tool if that fails. */
function answer(tenant, { ask, search }) {
  return runAgent({ sink, agent: "support", tenant }, async (run) => {
    await run.model("small-1", ask);
    await run.tool("search", { id: "call_1", input: {} }, search).catch(() => {});
    return "Done.";
  }).catch(() => {});
}

const works = async () => "fine";
const limited = async () => {
  throw new RateLimitError(`429: slow down, request ${crypto.randomUUID()}`);
};
const broken = async () => {
  throw Object.assign(new TypeError("connect ECONNREFUSED 10.0.0.7:5432"), {
    code: "ECONNREFUSED",
  });
};

await answer("acme", { ask: limited, search: works });
await answer("globex", { ask: limited, search: works });
await answer("acme", { ask: works, search: broken });
await sink.shutdown();

console.log("spans");
for (const { attributes, name } of spans.getFinishedSpans()) {
  const fingerprint = attributes["entelix.failure.fingerprint"];
  if (fingerprint !== undefined) console.log(`  ${name}  ${fingerprint}`);
}

await meterProvider.forceFlush();
const counted = metrics
  .getMetrics()
  .flatMap(({ scopeMetrics }) => scopeMetrics)
  .flatMap(({ metrics: of }) => of)
  .filter(({ descriptor }) => descriptor.name === "entelix.failures")
  .flatMap(({ dataPoints }) => dataPoints);
console.log("entelix.failures");
for (const { attributes, value } of counted) {
  console.log(`  ${value}  ${attributes["entelix.failure.fingerprint"]}`);
}
await meterProvider.shutdown();
await tracerProvider.shutdown();
