// Records an agent's events in a file, replays the file, and shows that the replay makes the very same
// spans: ids, parents, names, times, attributes, status.
//
//   node examples/record-and-replay.mjs
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { entelixDialect, formatIssue, readEvents } from "entelix-otel/replay";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { printTraces } from "./span-tree.mjs";
import { runAgent } from "./support-agent.mjs";

/** A provider that keeps its spans in memory. */
function inMemory() {
  const memory = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  return { memory, provider };
}

const folder = await mkdtemp(join(tmpdir(), "entelix-otel-example-"));
const path = join(folder, "events.ndjson");

const live = inMemory();
const sink = new Bridge({ tracerProvider: live.provider });
// Behind the sink, so that it can ask it for what the events themselves do not say.
const recorder = new RecorderSink({ path, source: sink });
await runAgent({
  sink: new FanOutSink([sink, recorder]),
  thread_id: "ticket-17",
  plan: [
    { tool: "lookup_order", input: { order: 17 } },
    { tool: "refund", input: { order: 17 } },
  ],
});
await recorder.shutdown();
await sink.shutdown();

const again = inMemory();
const replayed = new Bridge({ tracerProvider: again.provider, mode: "replay" });
const report = await readEvents(path, {
  dialects: [entelixDialect],
  onEvent: ({ event, envelope }) => replayed.send(event, envelope),
  onIssue: (issue) => console.error(formatIssue(issue)),
});
await replayed.shutdown();

const factsOf = (span) => {
  const { attributes, endTime, links, name, parentSpanContext, startTime, status } = span;
  const { spanId, traceId } = span.spanContext();
  const place = { traceId, spanId, parent: parentSpanContext?.spanId, links };
  return JSON.stringify({ ...place, name, startTime, endTime, attributes, status });
};
const facts = ({ memory }) => memory.getFinishedSpans().map(factsOf).sort();
const same = JSON.stringify(facts(live)) === JSON.stringify(facts(again));

console.log(`recorded and read ${report.events} events`);
printTraces(again.memory.getFinishedSpans());
console.log(`${facts(again).length} spans, ${same ? "identical to" : "NOT those of"} the live run`);

await live.provider.shutdown();
await again.provider.shutdown();
await rm(folder, { recursive: true });
