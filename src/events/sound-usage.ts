import type { UsageSnapshot } from "./agent-event.ts";
import { property } from "./errors/thrown.ts";
import type { ModelCallUsage } from "./model-event.ts";

/** The parts of a usage, and what each is a part of. */
const WHOLES = [
  ["cache_read_input_tokens", "input_tokens"],
  ["cache_write_input_tokens", "input_tokens"],
  ["reasoning_output_tokens", "output_tokens"],
] as const;

/**
 * The usage without parts that are larger than their whole. Such a figure is a mistake of its source, for example a
 * sum over the chunks of a stream that each had the sum so far. Values of wrong types stay as they are.
 */
export function soundUsage<U extends ModelCallUsage | Partial<UsageSnapshot>>(usage: U): U {
  const wrong = WHOLES.filter(([part, whole]) => {
    // Untyped programs may send a getter that throws.
    return isAbove(property(usage, part), property(usage, whole));
  });
  if (wrong.length === 0) return usage;
  return { ...usage, ...Object.fromEntries(wrong.map(([part]) => [part, null])) };
}

function isAbove(part: unknown, whole: unknown): boolean {
  return isNumber(part) && isNumber(whole) && part > whole;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
