import { randomBytes } from "node:crypto";

/** A run id as upstream makes them: a UUID of version 7. */
export function freshRunId() {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = randomBytes(10).toString("hex");
  const hex = `${time}7${random.slice(0, 3)}8${random.slice(3, 18)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Sends a run with one tool call, as an agent would. */
export async function sendRun(sink, run_id = freshRunId()) {
  const run = { run_id, tenant_id: "acme" };
  const call = { ...run, tool_use_id: "call_1", tool: "search", tool_version: "1.0.0" };
  await sink.send({ type: "started", ...run, parent_run_id: null, agent: "support" });
  await sink.send({ type: "tool_start", ...call, input: { query: "orders" } });
  await sink.send({ type: "tool_complete", ...call, duration_ms: 12, output: [] });
  await sink.send({ type: "complete", ...run, state: null, usage: null });
  return run_id;
}
