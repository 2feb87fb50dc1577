import type { AgentEvent } from "../../../src/index.ts";

export const RUN_ID = "018f3c7a-0000-7000-8000-00000000002a";
export const TRACE_ID = "018f3c7a00007000800000000000002a";

const TENANT = { tenant_id: "acme" } as const;

/** A sink that takes events at once. */
interface SyncSink {
  send(event: AgentEvent): void;
}

/** A run with one tool call: two spans. */
export function sendRun(sink: SyncSink, runId = RUN_ID): void {
  const run = { run_id: runId, ...TENANT };
  const call = { ...run, tool_use_id: "call_1", tool: "search" };
  sink.send({ ...run, type: "started", agent: "support" });
  sink.send({ ...call, type: "tool_start", input: {} });
  sink.send({ ...call, type: "tool_complete", duration_ms: 3, output: null });
  sink.send({ ...run, type: "complete", state: null });
}

/** A run that has begun and not ended. */
export function openRun(sink: SyncSink, runId = RUN_ID): void {
  sink.send({ run_id: runId, ...TENANT, type: "started", agent: "support" });
}
