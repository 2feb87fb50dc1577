import { v7 } from "uuid";

/** Ids as a decoder gives them: flat, not the rope that string building leaves for its first reader. */
const flat = (text) => Buffer.from(text, "latin1").latin1Slice();
const TENANTS = Array.from({ length: 17 }, (_, n) => `tenant-${n}`);
const AGENTS = Array.from({ length: 11 }, (_, n) => `agent-${n}`);
const USAGE = {
  requests: 4,
  input_tokens: 1200,
  output_tokens: 300,
  tool_calls: 1,
  cost_usd: "0.01",
};
let calls = 0;

export const runId = () => flat(v7());

/** @param n chooses tenant and agent. */
export function started(run_id, n, parent_run_id = null) {
  const [tenant_id, agent] = [TENANTS[n % 17], AGENTS[n % 11]];
  return { type: "started", run_id, tenant_id, parent_run_id, agent };
}

/** A call's start and its end, as `[start, end]`. */
export function toolPair(run_id, n) {
  const tool_use_id = flat(`toolu_${calls++}`);
  const call = {
    run_id,
    tenant_id: TENANTS[n % 17],
    tool_use_id,
    tool: "search_docs",
    tool_version: "1.4.0",
  };
  return [
    { type: "tool_start", ...call, input: null },
    { type: "tool_complete", ...call, duration_ms: 12, output: null },
  ];
}

export function complete(run_id, n) {
  return { type: "complete", run_id, tenant_id: TENANTS[n % 17], state: null, usage: USAGE };
}
