import type { ModelCallUsage } from "./model-event.ts";

/**
 * The usage without parts that are larger than their whole. Such a figure is a mistake of its source, for example a
 * sum over the chunks of a stream that each had the sum so far. Values of wrong types stay as they are.
 */
export function soundUsage(usage: ModelCallUsage): ModelCallUsage {
  const { input_tokens: input, output_tokens: output } = usage;
  const isSound =
    !isAbove(usage.cache_read_input_tokens, input) &&
    !isAbove(usage.cache_write_input_tokens, input) &&
    !isAbove(usage.reasoning_output_tokens, output);
  if (isSound) return usage;
  return {
    ...usage,
    cache_read_input_tokens: partOf(usage.cache_read_input_tokens, input),
    cache_write_input_tokens: partOf(usage.cache_write_input_tokens, input),
    reasoning_output_tokens: partOf(usage.reasoning_output_tokens, output),
  };
}

type Count = number | bigint | null | undefined;

function partOf(part: Count, whole: Count): number | bigint | null {
  return isAbove(part, whole) || part === undefined ? null : part;
}

function isAbove(part: Count, whole: Count): boolean {
  return isNumber(part) && isNumber(whole) && part > whole;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
