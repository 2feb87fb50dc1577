// An agent whose one tool asks a service by HTTP, in the context of the tool call. A run for each run id on standard
// input, wired by the built package's setup; the rest comes from the OTEL_* variables. Argument: the service's URL.
import { createInterface } from "node:readline";
import { context, propagation } from "@opentelemetry/api";
import { setupTracing } from "entelix-otel/setup";

const tracing = setupTracing();
const bridge = tracing.createBridge();

async function lookUp(service) {
  const headers = {};
  propagation.inject(context.active(), headers);
  const response = await fetch(service, { headers });
  if (response.status !== 204) throw new Error(`${service}: ${response.status}`);
}

for await (const run_id of createInterface({ input: process.stdin })) {
  const scope = { run_id, tenant_id: "acme" };
  const call = { ...scope, tool_use_id: "tu-1", tool: "lookup", tool_version: null };
  bridge.send({ type: "started", ...scope, parent_run_id: null, agent: "react" });
  bridge.send({ type: "tool_start", ...call, input: {} });
  const begun = performance.now();
  await context.with(bridge.contextOf(scope.tenant_id, run_id, call.tool_use_id), () =>
    lookUp(process.argv[2]),
  );
  const duration_ms = Math.round(performance.now() - begun);
  bridge.send({ type: "tool_complete", ...call, duration_ms, output: null });
  bridge.send({ type: "complete", ...scope, state: null, usage: null });
}
await tracing.shutdown();
