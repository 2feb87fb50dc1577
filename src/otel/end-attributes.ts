import type { ErrorEnvelope } from "../events/error-envelope.ts";
import type { InterruptionKind } from "../events/interruption-kind.ts";
import type { UsageSnapshot } from "../events/usage.ts";
import type { KnownAttributes } from "./semconv.ts";

/** Adds the error envelope of a failed run or call. */
export function addEnvelope(to: KnownAttributes, envelope: ErrorEnvelope): void {
  to["entelix.error.wire_code"] = envelope.wire_code;
  to["entelix.error.wire_class"] = envelope.wire_class;
  to["entelix.error.retry_after_secs"] = envelope.retry_after_secs;
  to["entelix.error.provider_status"] = envelope.provider_status;
}

/**
 * Adds what a completed run has used.
 *
 * A budget is shared by a run and its sub-agents, so a child's figures contain its parent's: only a
 * root carries the names that backends sum.
 */
export function addUsage(to: KnownAttributes, usage: UsageSnapshot, root: boolean): void {
  const inputTokens = tokens(usage.input_tokens);
  const outputTokens = tokens(usage.output_tokens);
  if (root) {
    to["gen_ai.usage.input_tokens"] = inputTokens;
    to["gen_ai.usage.output_tokens"] = outputTokens;
  } else {
    to["entelix.usage.input_tokens"] = inputTokens;
    to["entelix.usage.output_tokens"] = outputTokens;
  }
  to["entelix.usage.requests"] = usage.requests;
  to["entelix.usage.tool_calls"] = usage.tool_calls;
  if (root) {
    to["entelix.agent.usage.cost"] = usage.cost_usd;
  } else {
    to["entelix.usage.cost"] = usage.cost_usd;
    to["entelix.usage.cumulative"] = true;
  }
}

/** The largest double below 2^63: OTLP integers are signed, and one beyond them spoils its request. */
const MOST_INT = 2 ** 63 - 1024;

function tokens(count: number | bigint): number {
  return Math.min(Number(count), MOST_INT);
}

/** Adds why a run paused. */
export function addInterruption(to: KnownAttributes, kind: InterruptionKind): void {
  to["entelix.interruption.kind"] = kind.type;
  switch (kind.type) {
    case "custom":
      return;
    case "approval_pending":
      to["entelix.interruption.tool_use_id"] = kind.tool_use_id;
      return;
    case "scheduled_pause":
      to["entelix.interruption.phase"] = kind.phase;
      to["entelix.interruption.node"] = kind.node;
      return;
    default:
      // A kind that a newer source adds keeps its name.
      kind satisfies never;
  }
}
