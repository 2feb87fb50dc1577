// An agent that runs as a process, started by another agent's tool: see child-process.mjs. Started by
// hand its run is a trace of its own.
//
//   node examples/child-agent.mjs ORDER
import { setTimeout as sleep } from "node:timers/promises";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { extract } from "entelix-otel/context";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";

if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) process.env.OTEL_TRACES_EXPORTER ??= "none";

const memory = new InMemorySpanExporter();
const tracing = setupTracing({
  serviceName: "expert-agent",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});

// Undefined without a parent: the run is then a root. The tenant is not carried: this process knows it.
const parent = extract(process.env, { format: "environment" });
try {
  await runAgent(
    { sink: tracing.createBridge(), agent: "expert", tenant: "acme", parent },
    async (run) => {
      const order = await run.tool(
        "lookup_order",
        { input: process.argv[2] },
        async ({ input }) => {
          await sleep(12);
          return { order: input, state: "delivered" };
        },
      );
      return { answer: `order ${order.order} is ${order.state}` };
    },
  );

  await tracing.forceFlush();
  console.log("the expert's process:");
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}
