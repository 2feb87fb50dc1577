import type { UsageSnapshot } from "./agent-event.ts";
import type { ModelCallUsage } from "./model-event.ts";

/**
 * The usage without parts that are larger than their whole. Such a figure is a mistake of its source, for example a
 * sum over the chunks of a stream that each had the sum so far. Values of wrong types stay as they are.
 */
export function soundUsage<U extends ModelCallUsage | Partial<UsageSnapshot>>(usage: U): U {
  const given: ModelCallUsage = usage;
  try {
    const { input_tokens: input, output_tokens: output } = given;
    let sound = usage;
    if (isAbove(given.cache_read_input_tokens, input)) {
      sound = { ...sound, cache_read_input_tokens: null };
    }
    if (isAbove(given.cache_write_input_tokens, input)) {
      sound = { ...sound, cache_write_input_tokens: null };
    }
    if (isAbove(given.reasoning_output_tokens, output)) {
      sound = { ...sound, reasoning_output_tokens: null };
    }
    return sound;
  } catch {
    // Untyped programs may send a getter that throws.
    return usage;
  }
}

function isAbove(part: unknown, whole: unknown): boolean {
  return isNumber(part) && isNumber(whole) && part > whole;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
