import { type FinishedSpan, operationOf } from "../../../bridge/door.ts";
import { cutToWidth, safe, table } from "../../../cli/door.ts";
import { durationText } from "../../../events/format/door.ts";
import type { ViewRun } from "../../format.ts";
import { dollars, msOf } from "../../model/formats.ts";
import { sumsOf } from "../../model/run-sums.ts";
import { decisionText, isWaiting } from "../../model/story-words.ts";

/** Longest question in a table, in columns. */
const MOST_QUESTION = 64;

/** A table of who decided what, and of the runs that wait for a person, the oldest first. */
export function decisionLines(runs: readonly ViewRun[], nowMs: number): string[] {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const rows = runs.toSorted(byStart).flatMap((run) => {
    const { asked, decisions = [], end_ns, resumed_from = "", tenant_id } = run;
    // The input of a resumed run is the decision. The run before it has the question.
    const question = run.question ?? byId.get(resumed_from)?.question ?? "";
    const row = (what: string) => [
      safe(tenant_id),
      safe(what),
      cutToWidth(safe(question), MOST_QUESTION),
    ];
    const decided = decisions.map((decision) => row(decisionText(decision)));
    if (!isWaiting(run) || end_ns === null) return decided;
    const since = durationText(nowMs - msOf(end_ns));
    return [...decided, row(`waits for a person since ${since}: ${asked ?? "a decision"}`)];
  });
  return rows.length === 0 ? [] : table([["tenant", "decision", "question"], ...rows]);
}

/** A table of runs, tokens and cost by tenant. The figures of a run contain those of the runs below it. */
export function costLines(runs: readonly ViewRun[]): string[] {
  const roots = runs.filter(({ parent_run_id }) => parent_run_id === undefined);
  const tenants = [...new Set(roots.map(({ tenant_id }) => tenant_id))].sort();
  const rows = tenants.map((tenant) => {
    const own = roots.filter(({ tenant_id }) => tenant_id === tenant);
    const { cost_usd: cost, input_tokens = 0, output_tokens = 0 } = sumsOf(own);
    return [
      safe(tenant),
      String(own.length),
      String(input_tokens),
      String(output_tokens),
      cost === undefined ? "unknown" : dollars(cost),
    ];
  });
  return table([["tenant", "runs", "input tokens", "output tokens", "cost"], ...rows]);
}

/** What a trace of the support agent is called: who decided, or its question. */
export function runTitle({
  decisions: [decision] = [],
  question,
  run_id,
  tenant_id,
}: ViewRun): string {
  const what = decision === undefined ? (question ?? run_id) : decisionText(decision);
  return `${tenant_id}: ${what}`;
}

/** The runs of the conversation in which a person changed a call, in order: the paused one first. */
export function changedByPerson(runs: readonly ViewRun[]): readonly ViewRun[] {
  const resumed = runs.find(({ decisions = [] }) =>
    decisions.some(({ outcome, person }) => outcome === "edited" && person !== undefined),
  );
  return runs
    .filter(({ run_id }) => run_id === resumed?.run_id || run_id === resumed?.resumed_from)
    .toSorted(byStart);
}

/** The spans of a trace without the steps of its graph: what happened in a step is below the run. */
export function withoutSteps(spans: readonly FinishedSpan[]): readonly FinishedSpan[] {
  const steps = new Map<string | undefined, FinishedSpan>();
  for (const span of spans) {
    if (operationOf(span.attributes) === undefined) steps.set(span.spanId, span);
  }
  const shownParent = (id: string | undefined) => {
    let parent = id;
    for (let step = steps.get(id); step !== undefined; step = steps.get(parent)) {
      parent = step.parentSpanId;
    }
    return parent;
  };
  return spans
    .filter(({ spanId }) => !steps.has(spanId))
    .map((span) => withParent(span, shownParent(span.parentSpanId)));
}

/** A span with another parent. Its fields are named, because a spread has none of a span that is read by getters. */
function withParent(span: FinishedSpan, parentSpanId: string | undefined): FinishedSpan {
  const { attributes, end, events, failed, links, message, name, spanId, start, traceId } = span;
  const times = { start, end };
  const ids = { traceId, spanId, parentSpanId };
  return { ...ids, name, ...times, failed, message, attributes, events, links };
}

function byStart(one: ViewRun, other: ViewRun): number {
  return msOf(one.start_ns) - msOf(other.start_ns);
}
