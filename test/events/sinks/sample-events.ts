import type { AgentEvent, Complete, Started } from "../../../src/events/agent-event.ts";
import type { EventEnvelope } from "../../../src/events/event-envelope.ts";

const run = { run_id: "r1", tenant_id: "acme" } as const;

export const started: Started = { ...run, type: "started", agent: "a" };

export const complete: Complete<{ secret: string }> = {
  ...run,
  type: "complete",
  state: { secret: "s" },
};

/** One event of every type. */
export const everyEvent: readonly AgentEvent[] = [
  started,
  { ...run, type: "tool_start", tool_use_id: "t", tool: "search", input: {} },
  { ...run, type: "tool_complete", tool_use_id: "t", tool: "search", duration_ms: 1, output: 1 },
  { ...run, type: "tool_call_asked", tool_use_id: "t", tool: "search" },
  { ...run, type: "tool_call_approved", tool_use_id: "t", tool: "search" },
  { ...run, type: "tool_call_denied", tool_use_id: "t", tool: "search", reason: "no" },
  { ...run, type: "interrupted", kind: { type: "custom" }, payload: null },
  { ...run, type: "failed", error: "x", envelope: { wire_code: "serde", wire_class: "server" } },
  { ...run, type: "model_start", model_call_id: "m", model: "small-1", input: [] },
  { ...run, type: "model_complete", model_call_id: "m", duration_ms: 1, output: "x" },
  {
    ...run,
    type: "model_error",
    model_call_id: "m",
    duration_ms: 1,
    error: "x",
    envelope: { wire_code: "cancelled", wire_class: "client" },
    kind: { type: "cancelled" },
  },
  complete,
];

/** A tool event that tells itself apart by its number. */
export function numbered(n: number): AgentEvent {
  return { ...run, type: "tool_call_approved", tool_use_id: String(n), tool: "search" };
}

export function numberOf(event: AgentEvent): number {
  return event.type === "tool_call_approved" ? Number(event.tool_use_id) : Number.NaN;
}

export function envelopeNo(n: number): EventEnvelope {
  return { event_id: `e${n}`, sequence: n, timestamp: [1_777_464_000, n] };
}

/** Lets every promise that can settle do so. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
