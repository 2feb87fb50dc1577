// One run: started, three tool calls, complete. Eight events, four spans. Every run id is fresh: a run
// id that comes again would be a duplicate, and cheap for the wrong reason.
import { v7 } from "uuid";

const TOOLS = ["search_docs", "sql_query", "send_email", "read_file", "calculator"];

export function makeRuns(count, from = 0) {
  return Array.from({ length: count }, (_, n) => makeRun(from + n));
}

/** Ids as a decoder gives them: flat, not the rope that string building leaves for its first reader. */
const flat = (text) => Buffer.from(text, "latin1").latin1Slice();

function makeRun(n) {
  const run_id = flat(v7());
  const tenant_id = `tenant-${n % 17}`;
  const events = [
    { type: "started", run_id, tenant_id, parent_run_id: null, agent: `agent-${n % 11}` },
  ];
  for (let k = 0; k < 3; k++) {
    const call = {
      run_id,
      tenant_id,
      tool_use_id: flat(`toolu_${k}_${run_id.slice(-12)}`),
      tool: TOOLS[(n + k) % TOOLS.length],
      tool_version: "1.4.0",
    };
    events.push({
      type: "tool_start",
      ...call,
      input: { query: `the last 30 days of orders for customer ${n}`, limit: 25, tags: ["a", "b"] },
    });
    events.push({
      type: "tool_complete",
      ...call,
      duration_ms: 12 + k,
      output: `25 rows for customer ${n}; first=2026-11-02 last=2026-12-01`,
    });
  }
  events.push({
    type: "complete",
    run_id,
    tenant_id,
    state: null,
    usage: { requests: 4, input_tokens: 1200, output_tokens: 300, tool_calls: 3, cost_usd: "0.01" },
  });
  return events;
}
