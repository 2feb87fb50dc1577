import {
  type AgentError,
  classifyFailure,
  cutText,
  type EventDetails,
  envelopeOf,
  exceptionDetails,
  FROM_RUN,
  type InterruptionKind,
  operatorText,
  toolEnvelopeOf,
  type UsageSnapshot,
  withoutAdded,
} from "../../events/door.ts";
import { CallWriter } from "./call-writer.ts";
import { costKnown, lastedMs, type OpenEnvelope, withDetails } from "./event-writer.ts";
import {
  type Beginning,
  type Failure,
  NOW,
  type Stamp,
  type Step,
  type ToolCall,
} from "./run-parts.ts";

/** Sends the events of one run: its start, its end, its steps and its calls. */
export class RunWriter<T = void, C extends ToolCall = ToolCall> extends CallWriter<T, C> {
  started(given: Beginning, on: Stamp = NOW): T {
    const from = withoutAdded(given);
    const { agent, asked, parentCallKey, parentRunId, parentStepId, parentToolUseId } = from;
    const { resumedFromRunId } = from;
    const envelope = withDetails(this.envelope(on, parentStepId), from.details);
    if (from.traceparent !== undefined) {
      envelope.traceparent = from.traceparent;
      envelope.tracestate = from.tracestate;
    }
    if (parentToolUseId !== undefined) envelope.parent_tool_use_id = parentToolUseId;
    if (parentCallKey !== undefined) withDetails(envelope, { tool_use_id: parentCallKey });
    if (resumedFromRunId !== undefined) envelope.resumed_from_run_id = resumedFromRunId;
    if (asked !== undefined) withDetails(envelope, { input: asked });
    const parent_run_id = parentRunId ?? null;
    return this.send(
      { type: "started", run_id: this.runId, tenant_id: this.tenantId, parent_run_id, agent },
      envelope,
    );
  }

  /** @param state content: the run's final state. */
  completed(details?: EventDetails, state: unknown = null, on: Stamp = NOW): T {
    this.forget();
    const usage = this.totals?.snapshot() ?? null;
    const envelope = withDetails(this.envelope(on), this.#about(usage));
    return this.send(
      { type: "complete", run_id: this.runId, tenant_id: this.tenantId, state, usage },
      withDetails(envelope, details),
    );
  }

  /** `details` of the failure take precedence over the exception that is made of it. */
  failed(failure: Failure, on: Stamp = NOW): T {
    const { details, envelope, kind, shown, source, text, thrown } = withoutAdded(failure);
    const exception = exceptionDetails(thrown, text, shown);
    return this.send(
      {
        type: "failed",
        run_id: this.runId,
        tenant_id: this.tenantId,
        error: text ?? operatorText(thrown),
        envelope: envelope ?? envelopeOf(thrown, source),
        kind: kind ?? classifyFailure(thrown, source),
      },
      withDetails(withDetails(this.#endEnvelope(on), exception), details),
    );
  }

  /** @param asked content: the question of the paused run. */
  interrupted(
    kind: InterruptionKind,
    payload: unknown,
    asked: unknown,
    on: Stamp = NOW,
    details?: EventDetails,
  ): T {
    const output = asked === undefined ? undefined : { output: asked };
    return this.send(
      { type: "interrupted", run_id: this.runId, tenant_id: this.tenantId, kind, payload },
      withDetails(withDetails(this.#endEnvelope(on), output), details),
    );
  }

  /** The envelope of an end without an answer. Unlike `complete`, these events have no field for the usage. */
  #endEnvelope(on: Stamp): OpenEnvelope {
    this.forget();
    const envelope = this.envelope(on);
    const usage = this.totals?.snapshot() ?? undefined;
    if (usage === undefined) return envelope;
    return withDetails(envelope, { usage, ...this.#about(usage) });
  }

  /** Details of the run's usage. */
  #about(usage: UsageSnapshot | null): EventDetails | undefined {
    const known = costKnown(usage?.cost_usd ?? undefined);
    return usage !== null && this.totals?.isOwn === true ? { ...known, own_usage: true } : known;
  }

  stepStarted(step: Step, input?: unknown, on: Stamp = NOW): T {
    return this.send(
      {
        type: "step_start",
        run_id: this.runId,
        tenant_id: this.tenantId,
        step_id: step.stepId,
        step: step.step,
        ...(step.kind === undefined ? {} : { kind: step.kind }),
        ...(input === undefined ? {} : { input }),
      },
      withDetails(this.envelope(on), step.details),
    );
  }

  stepCompleted(step: Step, output?: unknown, on: Stamp = NOW): T {
    return this.send(
      {
        type: "step_complete",
        run_id: this.runId,
        tenant_id: this.tenantId,
        step_id: step.stepId,
        step: step.step,
        duration_ms: lastedMs(step),
        ...(output === undefined ? {} : { output }),
      },
      withDetails(this.envelope(on), step.details),
    );
  }

  stepFailed(step: Step, failure: Failure, on: Stamp = NOW): T {
    const { shown, text, thrown } = failure;
    return this.#stepError(step, failure, exceptionDetails(thrown, text, shown), on);
  }

  /** @param error why the step was cut off. It is not an exception of the step. */
  stepCut(step: Step, error: AgentError, on: Stamp = NOW): T {
    const failure = { thrown: error, source: FROM_RUN, text: cutText(error) };
    return this.#stepError(step, failure, undefined, on);
  }

  #stepError(
    step: Step,
    { source, text, thrown }: Failure,
    details: EventDetails | undefined,
    on: Stamp,
  ): T {
    return this.send(
      {
        type: "step_error",
        run_id: this.runId,
        tenant_id: this.tenantId,
        step_id: step.stepId,
        step: step.step,
        duration_ms: lastedMs(step),
        error: text ?? operatorText(thrown),
        envelope: toolEnvelopeOf(thrown, source),
      },
      withDetails(withDetails(this.envelope(on), step.details), details),
    );
  }
}
