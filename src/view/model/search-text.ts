import { count, cut, durationText } from "../../events/format/door.ts";
import type { ViewRun } from "../format.ts";
import { dollars, localTime } from "./formats.ts";
import { decisionText } from "./story-words.ts";

/** Longest search text of a run, in characters. It bounds the memory of the list: docs/view.md states it. */
export const MOST_SEARCH_TEXT = 2_000;
/** Longest text of the figures of a row that stands for several runs, in characters. */
const MOST_FIGURES = 100;
/** Longest part of it: that of the inputs of tools. */
const MOST_PART = 300;

/**
 * The text of a run that the search looks at, in lower case: the columns as they are shown, texts, IDs and names. Joined
 * once, so that a key stroke only looks for words in it.
 */
export function searchText(run: ViewRun, startMs: number): string {
  const { decisions = [] } = run;
  const parts = [
    run.run_id,
    run.trace_id,
    run.agent,
    run.tenant_id,
    run.outcome,
    localTime(startMs),
    run.failure_kind,
    run.failure_origin,
    run.interruption_kind,
    ...figuresOf(run),
    run.question,
    run.answer,
    run.error,
    run.asked,
    run.thread_id,
    run.user,
    run.session,
    run.model,
    run.tool_inputs,
    ...decisions.map(decisionText),
    ...(run.tools ?? []),
    ...(run.tags ?? []),
    ...(run.models ?? []),
    run.failure_fingerprint,
  ];
  const texts = parts.filter((part) => part !== undefined).map((part) => cut(part, MOST_PART).text);
  return cut(texts.join("\n"), MOST_SEARCH_TEXT).text.toLowerCase();
}

/** The text of sums. The other texts of a row that stands for several runs are those of its runs. */
export function figuresText(run: ViewRun): string {
  const texts = figuresOf(run).filter((part) => part !== undefined);
  return cut(texts.join("\n"), MOST_FIGURES).text.toLowerCase();
}

/** Duration, wait, tokens and cost, as they are shown. */
function figuresOf(run: ViewRun): readonly (string | undefined)[] {
  const { cost_usd, input_tokens, output_tokens, waiting_ms, working_ms } = run;
  return [
    working_ms === undefined ? undefined : durationText(working_ms),
    waiting_ms === undefined ? undefined : durationText(waiting_ms),
    input_tokens === undefined ? undefined : count(input_tokens),
    output_tokens === undefined ? undefined : count(output_tokens),
    cost_usd === undefined ? undefined : dollars(cost_usd),
  ];
}
