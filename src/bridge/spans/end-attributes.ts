import {
  decimalText,
  type ErrorEnvelope,
  type InterruptionKind,
  MOST_INT,
  type RunUsage,
  textIn,
  type UsageLimitBreach,
} from "../../events/door.ts";
import type { OwnUsage } from "../lifecycle/door.ts";
import type { SpanHandle } from "./span-handle.ts";

/** Sets the error envelope of a failed run or call. */
export function setEnvelope(on: SpanHandle, envelope: ErrorEnvelope): void {
  on.set("entelix.error.wire_code", textIn(envelope.wire_code));
  on.set("entelix.error.wire_class", textIn(envelope.wire_class));
  // It has 64 bits in entelix.
  on.set("entelix.error.retry_after_secs", inAttribute(envelope.retry_after_secs));
  on.set("entelix.error.provider_status", inAttribute(envelope.provider_status));
}

/** Sets the budget limit that a failed run reached. As texts, since the cost is a decimal. */
export function setBreach(on: SpanHandle, breach: UsageLimitBreach | undefined): void {
  on.set("entelix.breach.axis", textIn(breach?.axis));
  on.set("entelix.breach.limit", decimalIn(breach?.limit));
  on.set("entelix.breach.observed", decimalIn(breach?.observed));
}

/**
 * Sets the usage at the end of a run.
 *
 * A run and its sub-agents share a budget, so a child's figures contain its parent's. Only a root gets the
 * attributes that backends sum.
 */
export function setUsage(on: SpanHandle, usage: RunUsage, root: boolean): void {
  const inputTokens = inAttribute(usage.input_tokens);
  const outputTokens = inAttribute(usage.output_tokens);
  const cacheRead = inAttribute(usage.cache_read_input_tokens);
  const cacheWrite = inAttribute(usage.cache_write_input_tokens);
  if (root) {
    on.set("gen_ai.usage.input_tokens", inputTokens);
    on.set("gen_ai.usage.output_tokens", outputTokens);
    on.set("gen_ai.usage.cache_read.input_tokens", cacheRead);
    on.set("gen_ai.usage.cache_write.input_tokens", cacheWrite);
    on.set("gen_ai.usage.cache_creation.input_tokens", cacheWrite);
  } else {
    on.set("entelix.usage.input_tokens", inputTokens);
    on.set("entelix.usage.output_tokens", outputTokens);
    on.set("entelix.usage.cache_read.input_tokens", cacheRead);
    on.set("entelix.usage.cache_write.input_tokens", cacheWrite);
  }
  on.set("entelix.usage.requests", inAttribute(usage.requests));
  on.set("entelix.usage.tool_calls", inAttribute(usage.tool_calls));
  const cost = decimalIn(usage.cost_usd);
  if (root) {
    on.set("entelix.agent.usage.cost", cost);
  } else {
    on.set("entelix.usage.cost", cost);
    on.set("entelix.usage.cumulative", true);
  }
}

/** Sets the usage of the run's own model calls, for any outcome. */
export function setOwnUsage(on: SpanHandle, used: OwnUsage): void {
  on.set("entelix.run.input_tokens", used.inputTokens);
  on.set("entelix.run.output_tokens", used.outputTokens);
  on.set("entelix.run.cache_read.input_tokens", used.cacheReadTokens);
  on.set("entelix.run.cache_write.input_tokens", used.cacheWriteTokens);
  on.set("entelix.run.reasoning.output_tokens", used.reasoningTokens);
  on.set("entelix.run.cost", used.cost);
}

// Untyped programs pass `null` for unknown figures, which must not become 0.
function inAttribute(count: unknown): number | undefined {
  const number = typeof count === "bigint" ? Number(count) : count;
  return typeof number === "number" && number >= 0 ? Math.min(number, MOST_INT) : undefined;
}

/** Always a text, since a backend that saw a text first can reject a number. */
function decimalIn(cost: unknown): string | undefined {
  if (typeof cost === "bigint") return String(cost);
  if (typeof cost === "number" && Number.isFinite(cost)) return decimalText(cost);
  return typeof cost === "string" && cost !== "" ? cost : undefined;
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
      // An unknown kind of a newer source keeps its name.
      kind satisfies never;
  }
}
