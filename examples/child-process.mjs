// A tool that asks an agent in a process of its own: one trace, with the other agent's run below the
// tool call that started it.
//
//   node examples/child-process.mjs
//
// Each process prints its spans. With OTEL_EXPORTER_OTLP_ENDPOINT both send them too, and Jaeger shows
// one tree.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { inject } from "entelix-otel/context";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";

if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) process.env.OTEL_TRACES_EXPORTER ??= "none";

const memory = new InMemorySpanExporter();
const tracing = setupTracing({
  serviceName: "support-agent",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});
const expert = fileURLToPath(new URL("child-agent.mjs", import.meta.url));

/** What the process is to know of this tool call goes by its environment. */
async function askExpert({ input, signal }) {
  const env = inject({ ...process.env }, { format: "environment" });
  const child = spawn(process.execPath, [expert, input.order], { env, signal, stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the expert's process ended with ${code}`);
}

try {
  await runAgent(
    { sink: tracing.createBridge(), agent: "support", tenant: "acme", threadId: "ticket-17" },
    (run) => run.tool("ask_expert", { input: { order: "17" } }, askExpert),
  );

  await tracing.forceFlush();
  console.log("the support agent's process:");
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}
