import type { AgentEvent, EventEnvelope } from "../../src/index.ts";

export const RUN = "018f3c7a-0000-7000-8000-0000000000ab";
export const NEXT = "018f3c7a-0000-7000-8000-0000000000cd";
export const TENANT = "acme";
const scope = { run_id: RUN, tenant_id: TENANT };

/** A payment that waits for a person, who edits it, and a run that fails behind it. */
export const PAYMENT: readonly [AgentEvent, EventEnvelope][] = (
  [
    [
      { type: "started", ...scope, agent: "clerk" },
      {
        session_id: "s1",
        details: {
          user_id: "u-7",
          input: [{ role: "user", parts: [{ type: "text", content: "pay 900" }] }],
        },
      },
    ],
    [
      {
        type: "interrupted",
        ...scope,
        kind: { type: "approval_pending", tool_use_id: "t1" },
        payload: { tool: "pay" },
      },
      {},
    ],
    [{ type: "started", ...scope, run_id: NEXT, agent: "clerk" }, { resumed_from_run_id: RUN }],
    [
      { type: "tool_call_approved", ...scope, run_id: NEXT, tool_use_id: "t1", tool: "pay" },
      {
        details: {
          decision: {
            outcome: "edited",
            by: "user",
            person: "ann",
            reason: "too much",
            wait_ms: 4_200,
            proposed_input: { sum: 900 },
          },
        },
      },
    ],
    [
      {
        type: "tool_start",
        ...scope,
        run_id: NEXT,
        tool_use_id: "t1",
        tool: "pay",
        input: { sum: 90 },
      },
      {},
    ],
    [
      {
        type: "tool_complete",
        ...scope,
        run_id: NEXT,
        tool_use_id: "t1",
        tool: "pay",
        duration_ms: 5,
        output: "paid",
      },
      {},
    ],
    [
      {
        type: "failed",
        ...scope,
        run_id: NEXT,
        error: "OPERATOR-TEXT",
        envelope: { wire_code: "upstream_unavailable", wire_class: "server", origin: "model" },
        kind: { type: "model_dispatch" },
      },
      {},
    ],
  ] satisfies [AgentEvent, EventEnvelope][]
).map(([event, envelope], n) => [
  event,
  { event_id: `e${n}`, timestamp: `2026-04-29T12:00:0${n}Z`, thread_id: "th", ...envelope },
]);
