import {
  type EventDetails,
  exceptionDetails,
  FROM_MODEL,
  FROM_RUN,
  type Instant,
} from "../../events/door.ts";
import { placeIn, RunWriter, type SafeSink, type Stamp, UsageTotals } from "../core/door.ts";
import { eventIdOf } from "./ids.ts";
import { reported } from "./parse-span-error.ts";
import { contentOf } from "./run-content.ts";
import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, Problem, SpanFailure, TraceRecord } from "./trace-record.ts";

// Reports starts and ends of runs.

/** The writer of a run's events, which have no sequence numbers: another process may send events of the same run. */
export function writerOf(trace: TraceRecord, runId: string, sink: SafeSink): RunWriter {
  const { outer, pausedRootId, root, subject, tenantId, threadId } = trace;
  // A trace that was resumed from another process has the root run that was paused there.
  const rootRunId = outer?.rootRunId ?? pausedRootId ?? root?.runId ?? runId;
  const totals = {
    snapshot: () => {
      const isTop = trace.root?.runId === runId && trace.outer === undefined;
      return isTop ? trace.totals.snapshot() : null;
    },
  };
  const ref = { runId, rootRunId, tenantId, threadId, subject };
  return new RunWriter(sink, ref, { others: true, totals });
}

export function reportStart(trace: TraceRecord, run: AgentRun): void {
  const { agent, parent, resumedFrom } = run;
  const place =
    parent === undefined
      ? placeIn(trace.outer)
      : { parentRunId: parent.runId, parentToolUseId: run.parentToolUseId };
  const beginning = {
    agent,
    ...place,
    resumedFromRunId: resumedFrom,
    details: detailsOf(trace, run),
  };
  run.writer.started(beginning, stampOf(trace, run, "start", run.startedAt));
}

function detailsOf({ named }: TraceRecord, run: AgentRun): EventDetails | undefined {
  const { handoffFrom, parent } = run;
  // A named trace is a workflow around its agents.
  if (named && parent === undefined) return { operation: "invoke_workflow" };
  return handoffFrom === undefined ? undefined : { handoff_from: handoffFrom };
}

/** @param problem why the run failed. Default: it is complete. */
export function reportEnd(
  trace: TraceRecord,
  run: AgentRun,
  at: Instant,
  problem: Problem | undefined,
): void {
  const { failure, writer } = run;
  const details = contentOf(run);
  const on = stampOf(trace, run, "end", at);
  if (problem === undefined || failure === undefined) {
    writer.completed(details, null, on);
    return;
  }
  const tripped = problem.parsed.ofGuardrail ? problem.of.tripped : undefined;
  const failed = reported(failure);
  if (tripped === undefined) {
    writer.failed({ ...failed, details }, on);
    return;
  }
  // The exception keeps its own text.
  const exception = exceptionDetails(failed.thrown, failed.text, failed.shown);
  const text = `${failed.text}: ${tripped}`;
  writer.failed({ ...failed, text, details: { ...details, ...exception } }, on);
}

/** @param waiting the tool calls that wait for approval, as far as known. */
export function reportPause(
  trace: TraceRecord,
  run: AgentRun,
  at: Instant,
  waiting: readonly AskedCall[],
): void {
  const kind = { type: "approval_pending", tool_use_id: waiting[0]?.id ?? "" } as const;
  const payload = waiting.map(({ id, tool }) => ({ tool_use_id: id, tool }));
  const on = stampOf(trace, run, "end", at);
  run.writer.interrupted(kind, payload, undefined, on, contentOf(run, waiting));
  if (run === trace.root) trace.totals = new UsageTotals();
}

/**
 * The failure of a run and its source. The SDK only keeps texts of errors. An error of a tool that ended the run is
 * marked as such. A run with the same text as its last failed model call failed because of that call.
 */
export function failureOf({ parsed, of }: Problem): SpanFailure {
  const { failedCall, modelError } = of;
  if (parsed.ofTool && failedCall !== undefined) {
    const { error, thrown } = failedCall.parsed;
    return { parsed: { ...parsed, error, thrown }, source: failedCall.source };
  }
  if (modelError === undefined) return { parsed, source: FROM_RUN };
  const isModels = parsed.error === undefined || modelError.text === parsed.text;
  return { parsed, source: isModels ? FROM_MODEL : FROM_RUN };
}

/**
 * ID and time of a run's event. Every process makes the same ID, so that duplicates are recognised. A span can open
 * the trace's own run, a run of its own, or both. A resumed run has an ID of its own.
 */
function stampOf(
  { rootRunId }: TraceRecord,
  { openedBy, runId }: AgentRun,
  what: "start" | "end",
  at: Readonly<Instant>,
): Stamp {
  if (runId === openedBy) return { eventId: eventIdOf(openedBy, `run-${what}`), at };
  if (runId === rootRunId) return { eventId: eventIdOf(openedBy, `root-${what}`), at };
  return { eventId: `${runId}:${what}:${openedBy}`, at };
}
