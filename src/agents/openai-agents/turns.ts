import type { ModelCallUsage } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, type UsageTotals } from "../core/door.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AgentRun, Scope } from "./trace-record.ts";

// From 0.14 on, a turn of an agent has a span around its model call and the tools of the answer.

/** Spans of newer SDKs around agents and model calls. They are not sent, because they add no information. */
export const STRUCTURE: ReadonlySet<string> = new Set(["task", "turn"]);

const MODEL_SPANS: ReadonlySet<string> = new Set(["generation", "response"]);

/** The turns of a run. */
export interface Turns {
  /** The ID of the last turn, if nothing happened in it. */
  empty: string | undefined;
  /** Whether a model call of an earlier turn was shown. Otherwise, a turn with a call may look empty. */
  showModels: boolean;
  /** Whether the last turn has a span of its model call, and whether that had the usage. */
  model: "unseen" | "seen" | "counted";
}

/** A span starts in the run. */
export function startsIn({ run, toolUseId }: Scope, { spanData, spanId }: SdkSpan): void {
  if (run === undefined) return;
  if (spanData.type === "turn") {
    const showModels = run.turns?.showModels === true;
    run.turns = { empty: spanId, showModels, model: "unseen" };
  } else if (run.turns !== undefined) {
    run.turns.empty = undefined;
    if (!MODEL_SPANS.has(spanData.type)) return;
    run.turns.showModels = true;
    if (toolUseId === undefined && run.turns.model === "unseen") run.turns.model = "seen";
  }
}

/**
 * A turn of the run ended. It has the usage of its model call, also of a model that makes no spans, and without
 * sensitive data. It counts if the model call did not have it.
 */
export function turnEnded(totals: UsageTotals, { run }: Scope, { spanData }: SdkSpan): void {
  const usage = fieldsOf(spanData.usage);
  if (run?.turns === undefined || usage === undefined) return;
  if (run.turns.model !== "counted") totals.add(usageIn(usage));
  if (run.turns.model === "unseen") totals.requests += 1;
  run.turns.empty = undefined;
  run.turns.showModels = true;
}

function usageIn(usage: Fields): ModelCallUsage {
  return {
    input_tokens: countOf(usage.input_tokens),
    output_tokens: countOf(usage.output_tokens),
    cache_read_input_tokens: countOf(usage.cached_input_tokens),
    cache_write_input_tokens: countOf(usage.cache_write_input_tokens),
  };
}

/** Whether the run ended in a turn whose model was not asked: its reader left, or a signal stopped it. */
export function endedBetween({ resumed, turns }: AgentRun): boolean {
  // The first turn after a pause may only deal with the answers of a person.
  return !resumed && turns?.empty !== undefined && turns.showModels;
}
