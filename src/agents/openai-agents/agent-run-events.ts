import {
  envelopeOf as classifiedEnvelope,
  classifyFailure,
  type EventDetails,
  FROM_MODEL,
  FROM_RUN,
  type Instant,
} from "../../events/door.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "../core/door.ts";
import { isZeroCost } from "../runtime/door.ts";
import { eventIdOf } from "./ids.ts";
import { exceptionIn, thrownIn } from "./parse-span-error.ts";
import { contentOf } from "./run-content.ts";
import type { AskedCall } from "./span-answer.ts";
import {
  type AgentRun,
  type Failure,
  type Problem,
  type TraceRecord,
  topRunId,
} from "./trace-record.ts";

/** Sends the events of runs. */
export class RunEvents {
  readonly #sink: SafeSink;

  constructor(sink: SafeSink) {
    this.#sink = sink;
  }

  started(trace: TraceRecord, run: AgentRun): void {
    const { outer } = trace;
    const parent = run.parent?.runId ?? outer?.runId;
    // For a run outside the SDK, it is known whether there is a surrounding call.
    const outerCall = outer === undefined ? undefined : (outer.toolUseId ?? null);
    const call = run.parent === undefined ? outerCall : run.parentToolUseId;
    const envelope = envelopeOf(trace, run, "start", run.startedAt);
    if (call !== undefined) envelope.parent_tool_use_id = call;
    const step = run.parent === undefined ? outer?.stepId : undefined;
    if (step !== undefined) envelope.details = { ...envelope.details, step_id: step };
    const handoff_from = run.handoffFrom;
    if (handoff_from !== undefined) envelope.details = { ...envelope.details, handoff_from };
    if (run.resumedFrom !== undefined) envelope.resumed_from_run_id = run.resumedFrom;
    const { runId: run_id, agent } = run;
    this.#sink.send(
      parent === undefined
        ? { type: "started", run_id, tenant_id: trace.tenantId, agent }
        : { type: "started", run_id, tenant_id: trace.tenantId, parent_run_id: parent, agent },
      envelope,
    );
  }

  completed(trace: TraceRecord, run: AgentRun, at: Instant): void {
    // Only the root run reports usage. It includes the child runs.
    const isTop = run === trace.root && trace.outer === undefined;
    const usage = isTop ? trace.totals.snapshot() : null;
    const envelope = envelopeOf(trace, run, "end", at);
    if (usage?.cost_usd != null && isZeroCost(usage.cost_usd)) {
      envelope.details = { ...envelope.details, cost_known: true };
    }
    this.#sink.send(
      {
        type: "complete",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        state: null,
        usage,
      },
      withDetails(envelope, contentOf(run)),
    );
  }

  /** @param of the run in which the failure happened: this run, or one below it. */
  failed(
    trace: TraceRecord,
    run: AgentRun,
    at: Instant,
    { tripped }: AgentRun,
    { parsed, source }: Failure,
  ): void {
    const text = tripped === undefined ? parsed.text : `${parsed.text}: ${tripped}`;
    this.#sink.send(
      {
        type: "failed",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        error: text,
        envelope: classifiedEnvelope(thrownIn(parsed), source),
        kind: classifyFailure(thrownIn(parsed), source),
      },
      withDetails(endOf(trace, run, at, contentOf(run)), exceptionIn(parsed)),
    );
  }

  /** @param waiting the tool calls that wait for approval, as far as known. */
  interrupted(
    trace: TraceRecord,
    run: AgentRun,
    at: Instant,
    waiting: readonly Pick<AskedCall, "id" | "tool" | "input">[],
  ): void {
    this.#sink.send(
      {
        type: "interrupted",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        kind: { type: "approval_pending", tool_use_id: waiting[0]?.id ?? "" },
        payload: waiting.map(({ id, tool }) => ({ tool_use_id: id, tool })),
      },
      endOf(trace, run, at, contentOf(run, waiting)),
    );
  }
}

/**
 * The failure of a run and its source. The SDK only keeps texts of errors. An error of a tool that ended the run is
 * marked as such. A run with the same text as its last failed model call failed because of that call.
 */
export function failureOf({ parsed, of }: Problem): Failure {
  const { failedCall, modelError } = of;
  if (parsed.ofTool && failedCall !== undefined) {
    const { error, thrown } = failedCall.parsed;
    return { parsed: { ...parsed, error, thrown }, source: failedCall.source };
  }
  if (modelError === undefined) return { parsed, source: FROM_RUN };
  const isModels = parsed.error === undefined || modelError.text === parsed.text;
  return { parsed, source: isModels ? FROM_MODEL : FROM_RUN };
}

function endOf(
  trace: TraceRecord,
  run: AgentRun,
  at: Instant,
  details: EventDetails | undefined,
): OpenEnvelope {
  const envelope = envelopeOf(trace, run, "end", at);
  if (details !== undefined) envelope.details = { ...envelope.details, ...details };
  return envelope;
}

/** The envelope of an event. Every process makes the same one, so that duplicates are recognised. */
function envelopeOf(
  trace: TraceRecord,
  run: AgentRun,
  what: "start" | "end",
  timestamp: Readonly<Instant>,
): OpenEnvelope {
  const { subject, threadId } = trace;
  const event_id = idOf(trace, run, what);
  const root_run_id = topRunId(trace, run);
  const envelope: OpenEnvelope =
    threadId === undefined
      ? { event_id, timestamp, root_run_id }
      : { event_id, timestamp, root_run_id, thread_id: threadId };
  return subject === undefined ? envelope : { ...envelope, ...subject };
}

/**
 * The event's ID. A span can open the trace's own run, a run of its own, or both. A resumed run has an ID of its own.
 */
function idOf({ rootRunId }: TraceRecord, run: AgentRun, what: "start" | "end"): string {
  const { runId, openedBy } = run;
  if (runId === openedBy) return eventIdOf(openedBy, `run-${what}`);
  if (runId === rootRunId) return eventIdOf(openedBy, `root-${what}`);
  return `${runId}:${what}:${openedBy}`;
}
