import type { ViewSpan } from "../format.ts";
import { costIn, numberIn, textIn } from "../model/attributes.ts";
import { addCosts } from "../model/usage.ts";
import { type IndexedRun, NO_USAGE, startAt } from "./indexed-run.ts";
import type { RunTraits, RunUsage } from "./run-facts.ts";
import { plus } from "./run-trees.ts";
import type { Trace } from "./traces.ts";

// Runs of other instrumentation: a trace with agents, models or tools is one run, unless it has a run of this package.

/** Whether a span was made by other instrumentation. */
export function isOfOthers({ run_id, vocabulary }: ViewSpan): boolean {
  return run_id === undefined || vocabulary !== undefined;
}

/** ID of the run that the list counts a span for; `undefined` if there is none. */
export function ownerOf(span: ViewSpan, trace: Trace): string | undefined {
  const { parent_span_id, run_id, trace_id } = span;
  if (!isOfOthers(span)) return run_id;
  if (trace.hasOwnRun) return undefined;
  // The span of a request, say, around an agent.
  const isAround = parent_span_id === undefined && trace.runs > 0;
  return run_id ?? (isAround ? trace_id : undefined);
}

/**
 * The spans of runs of this package, with those of others in them. Two instrumentations can record the same call: others
 * are models and tools only where this package recorded none, so that no call counts twice. Their agents are steps.
 */
export function inOwnRuns(spans: readonly ViewSpan[]): ViewSpan[] {
  const own = new Set(spans.filter((span) => !isOfOthers(span)).map(({ kind }) => kind));
  return spans.map((span) => {
    if (span.vocabulary === undefined || !own.has(span.kind)) return span;
    return { ...span, kind: span.kind === "run" ? "step" : "other" };
  });
}

/**
 * Takes a span into a run of others. Such a run ends with its outermost span, which also has its outcome.
 *
 * @returns the usage of the run.
 */
export function addOtherSpan(run: IndexedRun, span: ViewSpan): RunUsage {
  startAt(run, BigInt(span.start_ns));
  const isOuter = span.kind === "run" || span.parent_span_id === undefined;
  const end = span.end_ns === null || !isOuter ? 0n : BigInt(span.end_ns);
  if (end > 0n && end >= run.end) {
    run.end = end;
    run.traits = traitsOf(span, run.traits);
  } else run.traits = { ...agentOf(span), tenant_id: "", outcome: "open", ...run.traits };
  return usageAfter(run.usage, span);
}

function traitsOf(span: ViewSpan, before: RunTraits | undefined): RunTraits {
  const agent = before?.agent === undefined ? {} : { agent: before.agent };
  return {
    ...agent,
    ...agentOf(span),
    tenant_id: "",
    outcome: span.failed ? "failed" : "complete",
  };
}

function agentOf({ attributes }: ViewSpan): { readonly agent?: string } {
  const agent = textIn(attributes, "gen_ai.agent.name");
  return agent === undefined ? {} : { agent };
}

/**
 * The usage of an agent is that of its calls, in whichever order their spans come. If none of them has any, it is that
 * of the agent's span.
 */
function usageAfter(before: RunUsage, span: ViewSpan): RunUsage {
  const { attributes, kind } = span;
  const input = numberIn(attributes, "gen_ai.usage.input_tokens");
  const output = numberIn(attributes, "gen_ai.usage.output_tokens");
  const cost =
    costIn(attributes, "entelix.model.cost") ?? costIn(attributes, "entelix.agent.usage.cost");
  if ((input ?? output ?? cost) === undefined) return before;
  if (kind === "run") {
    const isOuter = span.parent_span_id === undefined;
    const isFirst = (before.input ?? before.output ?? before.cost) === undefined;
    return isFirst || (before.whole && isOuter) ? { input, output, cost, whole: true } : before;
  }
  if (kind !== "model") return before;
  const calls = before.whole ? NO_USAGE : before;
  return {
    input: plus(calls.input, input),
    output: plus(calls.output, output),
    cost: addCosts(calls.cost, cost),
    whole: false,
  };
}
