import { decimalText, MOST_INT } from "../../events/value-limits.ts";
import type { RunUsage } from "../../lifecycle/signal.ts";
import type { Count, TokenUsage } from "./values.ts";

/** A run's usage, as far as this runtime knows it: it counts no requests. */
export function runUsage(usage: TokenUsage, cost: number | bigint | null | undefined): RunUsage {
  const { input_tokens, output_tokens } = usage;
  if (cost == null) return { input_tokens, output_tokens };
  return { input_tokens, output_tokens, cost_usd: decimalText(cost) };
}

/** A count as an attribute's number. */
export function numberOf(count: Count): number;
export function numberOf(count: Count | null | undefined): number | undefined;
export function numberOf(count: Count | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}
