import type { RunUsage } from "../../lifecycle/signals.ts";
import type { Count, TokenUsage } from "./values.ts";

/** A run's usage, as far as this runtime knows it: it counts no requests. */
export function runUsage(usage: TokenUsage, cost: number | bigint | null | undefined): RunUsage {
  const { input_tokens, output_tokens } = usage;
  if (cost == null) return { input_tokens, output_tokens };
  return { input_tokens, output_tokens, cost_usd: decimalText(cost) };
}

/** The largest double below 2^63: an attribute is a signed integer of 64 bits. */
const MOST_INT = 2 ** 63 - 1024;

/** A count as an attribute's number. */
export function numberOf(count: Count): number;
export function numberOf(count: Count | null | undefined): number | undefined;
export function numberOf(count: Count | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}

/** Digits behind the point of the smallest sums that are told from zero. */
const MOST_DIGITS = 12;

/** A cost as decimal text: `String` writes very small and very large ones with an exponent. */
export function decimalText(cost: number | bigint): string {
  const text = String(cost);
  if (!text.includes("e")) return text;
  if (Math.abs(Number(cost)) >= 1) return String(BigInt(cost));
  return Number(cost)
    .toFixed(MOST_DIGITS)
    .replace(/\.?0+$/, "");
}
