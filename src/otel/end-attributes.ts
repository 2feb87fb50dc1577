import type { ErrorEnvelope } from "../events/error-envelope.ts";
import type { InterruptionKind } from "../events/interruption-kind.ts";
import type { RunUsage } from "../lifecycle/signals.ts";
import type { SpanHandle } from "./span-handle.ts";

/** Sets the error envelope of a failed run or call. */
export function setEnvelope(on: SpanHandle, envelope: ErrorEnvelope): void {
  on.set("entelix.error.wire_code", envelope.wire_code);
  on.set("entelix.error.wire_class", envelope.wire_class);
  const retryAfter = envelope.retry_after_secs;
  // Upstream has 64 bits for it.
  const seconds = typeof retryAfter === "bigint" ? inAttribute(retryAfter) : retryAfter;
  on.set("entelix.error.retry_after_secs", seconds);
  on.set("entelix.error.provider_status", envelope.provider_status);
}

/**
 * Sets what a completed run has used.
 *
 * A budget is shared by a run and its sub-agents, so a child's figures contain its parent's: only a
 * root carries the names that backends sum.
 */
export function setUsage(on: SpanHandle, usage: RunUsage, root: boolean): void {
  const inputTokens = inAttribute(usage.input_tokens);
  const outputTokens = inAttribute(usage.output_tokens);
  if (root) {
    on.set("gen_ai.usage.input_tokens", inputTokens);
    on.set("gen_ai.usage.output_tokens", outputTokens);
  } else {
    on.set("entelix.usage.input_tokens", inputTokens);
    on.set("entelix.usage.output_tokens", outputTokens);
  }
  on.set("entelix.usage.requests", usage.requests);
  on.set("entelix.usage.tool_calls", usage.tool_calls);
  if (root) {
    on.set("entelix.agent.usage.cost", usage.cost_usd);
  } else {
    on.set("entelix.usage.cost", usage.cost_usd);
    on.set("entelix.usage.cumulative", true);
  }
}

/** The largest double below 2^63: OTLP integers are signed, and one beyond them spoils its request. */
const MOST_INT = 2 ** 63 - 1024;

function inAttribute(count: number | bigint | undefined): number | undefined {
  return count === undefined ? undefined : Math.min(Number(count), MOST_INT);
}

/** Sets why a run paused. */
export function setInterruption(on: SpanHandle, kind: InterruptionKind): void {
  on.set("entelix.interruption.kind", kind.type);
  switch (kind.type) {
    case "custom":
      return;
    case "approval_pending":
      on.set("entelix.interruption.tool_use_id", kind.tool_use_id);
      return;
    case "scheduled_pause":
      on.set("entelix.interruption.phase", kind.phase);
      on.set("entelix.interruption.node", kind.node);
      return;
    default:
      // A kind that a newer source adds keeps its name.
      kind satisfies never;
  }
}
