import type { KnownFacts } from "../known-facts.ts";
import type { DefectUsage } from "./defect-event.ts";

/** The largest double below 2^63: OTLP integers are signed. */
const MOST_INT = 2 ** 63 - 1024;

/**
 * The tokens of a model call or of a turn of the session itself. The figures of a turn are those of
 * its own model calls, without its sub-agents'.
 */
export function usageFacts(usage: DefectUsage | null | undefined): KnownFacts {
  return named(usage, "gen_ai.usage.");
}

/** The same of a sub-agent's turn, under names that nobody adds to the session's. */
export function childUsageFacts(usage: DefectUsage | null | undefined): KnownFacts {
  return named(usage, "entelix.usage.");
}

const NO_FACTS: KnownFacts = {};

function named(
  usage: DefectUsage | null | undefined,
  prefix: "gen_ai.usage." | "entelix.usage.",
): KnownFacts {
  if (usage === null || usage === undefined) return NO_FACTS;
  const facts: { -readonly [N in keyof KnownFacts]: KnownFacts[N] } = {};
  const {
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    input_tokens: input,
    output_tokens: output,
  } = usage;
  if (isKnown(input)) facts[`${prefix}input_tokens` as const] = wholeNumber(input);
  if (isKnown(output)) facts[`${prefix}output_tokens` as const] = wholeNumber(output);
  if (isKnown(read)) facts[`${prefix}cache_read.input_tokens` as const] = wholeNumber(read);
  if (isKnown(written)) facts[`${prefix}cache_write.input_tokens` as const] = wholeNumber(written);
  return facts;
}

function isKnown(count: number | bigint | null | undefined): count is number | bigint {
  return count !== null && count !== undefined;
}

/** A count as an attribute: a number, at most what OTLP can carry. */
export function wholeNumber(count: number | bigint): number {
  return Math.min(Number(count), MOST_INT);
}
