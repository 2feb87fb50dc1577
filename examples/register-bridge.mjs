// Registers the bridge with an agent: each run becomes a trace whose id is the run's id, and its tool
// calls become rows of an audit log.
//
//   node examples/register-bridge.mjs [AUDIT_DIRECTORY]
//
// The spans are printed; with OTEL_EXPORTER_OTLP_ENDPOINT they are also sent, to Jaeger for example.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { NdjsonSessionLog, verifyLog } from "entelix-otel/audit";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";
import { runAgent } from "./support-agent.mjs";

// By default spans go to port 4318 of this machine, where for an example nobody may be listening.
if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) process.env.OTEL_TRACES_EXPORTER ??= "none";

const memory = new InMemorySpanExporter();
const directory = process.argv[2] ?? (await mkdtemp(join(tmpdir(), "entelix-otel-example-")));

const tracing = setupTracing({
  serviceName: "support-agent",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});
const log = await NdjsonSessionLog.open(directory);
const bridge = tracing.createBridge({ audit: log });

try {
  const good = await runAgent({
    sink: bridge,
    thread_id: "ticket-17",
    plan: [
      { tool: "lookup_order", input: { order: 17 } },
      { tool: "refund", input: { order: 17 } },
      { tool: "send_reply", input: { text: "A colleague will refund you." } },
    ],
  });
  const bad = await runAgent({
    sink: bridge,
    thread_id: "ticket-18",
    plan: [{ tool: "refund", input: { order: 18 }, must: true }],
  });

  await tracing.forceFlush();
  for (const { run_id, error } of [good, bad]) {
    console.log(
      `run   ${run_id} ${error === undefined ? "completed" : `failed: ${error.message}`}`,
    );
  }
  printTraces(memory.getFinishedSpans());
} finally {
  // The sinks first, then the provider: shutdown does both. The log is ours to close.
  await tracing.shutdown();
  await log.close();
}

const { end, ok, rows, threads } = await verifyLog(directory);
const verdict = ok && end === "closed" ? "intact" : "DAMAGED";
console.log(`audit ${directory}: ${rows} rows in ${threads} threads, ${verdict}`);
