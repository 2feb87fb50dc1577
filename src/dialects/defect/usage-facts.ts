import { MOST_INT } from "../../events/value-limits.ts";
import type { OwnFacts } from "../known-facts.ts";
import type { DefectUsage } from "./events.ts";

/**
 * The tokens of a model call or of a turn of the session itself. The figures of a turn are those of
 * its own model calls, without its sub-agents'.
 */
export function usageFacts(usage: DefectUsage | null | undefined): OwnFacts {
  if (usage === null || usage === undefined) return {};
  return {
    "gen_ai.usage.input_tokens": countOf(usage.input_tokens),
    "gen_ai.usage.output_tokens": countOf(usage.output_tokens),
    "gen_ai.usage.cache_read.input_tokens": countOf(usage.cache_read_input_tokens),
    "gen_ai.usage.cache_write.input_tokens": countOf(usage.cache_creation_input_tokens),
  };
}

/** The same of a sub-agent's turn, under names that nobody adds to the session's. */
export function childUsageFacts(usage: DefectUsage | null | undefined): OwnFacts {
  if (usage === null || usage === undefined) return {};
  return {
    "entelix.usage.input_tokens": countOf(usage.input_tokens),
    "entelix.usage.output_tokens": countOf(usage.output_tokens),
    "entelix.usage.cache_read.input_tokens": countOf(usage.cache_read_input_tokens),
    "entelix.usage.cache_write.input_tokens": countOf(usage.cache_creation_input_tokens),
  };
}

function countOf(count: number | bigint | null | undefined): number | undefined {
  return count === null || count === undefined ? undefined : wholeNumber(count);
}

/** A count as an attribute: a number, at most what OTLP can carry. */
export function wholeNumber(count: number | bigint): number {
  return Math.min(Number(count), MOST_INT);
}
