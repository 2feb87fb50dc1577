// An agent with two tools, a sub-agent and an approval. The runtime helper tells the bridge what it
// does; the bridge makes the spans.
//
//   node examples/agent.mjs
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";

process.env.OTEL_TRACES_EXPORTER = "none";
const memory = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(memory)];
const tracing = setupTracing({ serviceName: "support-agent", spanProcessors });
const sink = tracing.createBridge();

// A call waits for whoever decides, for as long as that takes.
const approve = ({ input }) => (input.sum <= 50 ? "approved" : { denied: "above 50" });

// Started inside another run, it is its sub-agent: sink and tenant are that run's.
const expert = () => runAgent({ agent: "expert" }, (run) => run.model("small-1", () => "refund"));

try {
  await runAgent({ sink, agent: "support", tenant: "acme" }, async (run) => {
    for (const [order, sum] of Object.entries({ 17: 41.9, 18: 900 })) {
      await run.tool("lookup_order", { input: { order } }, () => ({ order, sum }));
      await run.tool("ask_expert", expert);
      const refund = run.tool("refund", { input: { sum }, approve }, () => `refunded ${sum}`);
      console.log(await refund.catch((error) => error.message));
    }
  });

  await tracing.forceFlush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}
