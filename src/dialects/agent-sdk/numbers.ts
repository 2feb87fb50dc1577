import { addMilliseconds, type Instant } from "../../events/instant.ts";
import { decimalText, MOST_INT } from "../../events/value-limits.ts";
import type { RunUsage } from "../../lifecycle/signal.ts";
import type { Count, TokenUsage } from "./events.ts";

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

/** A time as much earlier as something took; unmoved by what would be longer than there is time. */
export function movedBack(at: Instant, tookMs: Count): Instant {
  const from = addMilliseconds(at, -Number(tookMs));
  return from[0] >= 0 ? from : at;
}
