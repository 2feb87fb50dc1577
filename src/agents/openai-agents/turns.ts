import { fieldsOf } from "../core/door.ts";
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
}

/** A span starts in the run. */
export function startsIn({ run }: Scope, { spanData, spanId }: SdkSpan): void {
  if (run === undefined) return;
  if (spanData.type === "turn") {
    run.turns = { empty: spanId, showModels: run.turns?.showModels === true };
  } else if (run.turns !== undefined) {
    run.turns.empty = undefined;
    if (MODEL_SPANS.has(spanData.type)) run.turns.showModels = true;
  }
}

/** A turn of the run ended. It has the usage of its model call, also of a model that makes no spans. */
export function turnEnded({ run }: Scope, { spanData }: SdkSpan): void {
  if (run?.turns === undefined || fieldsOf(spanData.usage) === undefined) return;
  run.turns.empty = undefined;
  run.turns.showModels = true;
}

/** Whether the run ended in a turn whose model was not asked: its reader left, or a signal stopped it. */
export function endedBetween({ resumed, turns }: AgentRun): boolean {
  // The first turn after a pause may only deal with the answers of a person.
  return !resumed && turns?.empty !== undefined && turns.showModels;
}
