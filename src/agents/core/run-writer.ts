import {
  type AgentError,
  type AgentEvent,
  classifyFailure,
  classifyToolError,
  cutText,
  type DecisionDetails,
  type EventDetails,
  envelopeOf,
  exceptionDetails,
  type FailureSource,
  FROM_MODEL,
  type Instant,
  type InterruptionKind,
  now,
  operatorText,
  renderForLlm,
  resultException,
  resultText,
  SequenceCounter,
  type ToolFailure,
  toolEnvelopeOf,
  type UsageSnapshot,
} from "../../events/door.ts";
import { IdCounter, isZeroCost } from "../runtime/door.ts";
import type { ModelRequest } from "./model-request.ts";
import type {
  Beginning,
  Failure,
  ModelAnswer,
  ModelCall,
  ModelText,
  RunRef,
  Step,
  Timed,
  ToolCall,
} from "./run-parts.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "./safe-sink.ts";

/**
 * Sends the events of one adapter run in order, each with an ID and a time. Events are written field by field,
 * because spreading shared fields is many times slower.
 */
export class RunWriter {
  readonly run: RunRef;
  readonly #sink: Pick<SafeSink, "send">;
  readonly #ids = new IdCounter();
  readonly #sequence: SequenceCounter | undefined;
  readonly #runId: string;
  readonly #tenantId: string;

  /** @param others whether something else also sends events of this run. Events have no sequence numbers then. */
  constructor(sink: Pick<SafeSink, "send">, run: RunRef, others = false) {
    this.#sequence = others ? undefined : new SequenceCounter();
    this.#sink = sink;
    this.run = run;
    this.#runId = run.runId;
    this.#tenantId = run.tenantId;
  }

  /** An ID for a call without one. */
  newId(): string {
    return this.#ids.next();
  }

  started(from: Beginning): void {
    const { agent, asked, parentRunId, parentStepId, parentToolUseId, resumedFromRunId } = from;
    const envelope = withDetails(this.#envelope(parentStepId), from.details);
    if (from.traceparent !== undefined) {
      envelope.traceparent = from.traceparent;
      envelope.tracestate = from.tracestate;
    }
    if (parentToolUseId !== undefined) envelope.parent_tool_use_id = parentToolUseId;
    if (resumedFromRunId !== undefined) envelope.resumed_from_run_id = resumedFromRunId;
    if (asked !== undefined) withDetails(envelope, { input: asked });
    const parent_run_id = parentRunId ?? null;
    this.#send(
      { type: "started", run_id: this.#runId, tenant_id: this.#tenantId, parent_run_id, agent },
      envelope,
    );
  }

  /** @param usage only for a root run: the sum of the run and its child runs. */
  completed(usage: UsageSnapshot | null, details?: EventDetails): void {
    const cost = usage?.cost_usd ?? undefined;
    const envelope = withDetails(this.#envelope(), costKnown(cost));
    this.#send(
      { type: "complete", run_id: this.#runId, tenant_id: this.#tenantId, state: null, usage },
      withDetails(envelope, details),
    );
  }

  failed({ details, source, text, thrown }: Failure, at?: Instant): void {
    this.#send(
      {
        type: "failed",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        error: text ?? operatorText(thrown),
        envelope: envelopeOf(thrown, source),
        kind: classifyFailure(thrown, source),
      },
      withDetails(this.#envelope(undefined, at), { ...details, ...exceptionDetails(thrown, text) }),
    );
  }

  /** @param asked content: the question of the paused run. */
  interrupted(kind: InterruptionKind, payload: unknown, asked: unknown): void {
    const details = asked === undefined ? undefined : { output: asked };
    this.#send(
      { type: "interrupted", run_id: this.#runId, tenant_id: this.#tenantId, kind, payload },
      withDetails(this.#envelope(), details),
    );
  }

  /** @param description the tool's description. */
  toolStarted(call: ToolCall, input: unknown, description?: string, stepId?: string): void {
    const envelope = withDetails(this.#envelope(stepId), call.details);
    if (description !== undefined) withDetails(envelope, { tool_description: description });
    this.#send(
      {
        type: "tool_start",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        input,
      },
      envelope,
    );
  }

  toolCompleted(call: ToolCall, output: unknown): void {
    this.#send(
      {
        type: "tool_complete",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        duration_ms: lastedMs(call),
        output,
      },
      withDetails(this.#envelope(), call.details),
    );
  }

  toolFailed(call: ToolCall, { source, text, thrown }: Failure, modelText?: ModelText): void {
    this.#toolError(
      call,
      {
        error: text ?? operatorText(thrown),
        error_for_llm:
          modelText === undefined ? renderForLlm(thrown, source) : resultText(modelText ?? ""),
        envelope: toolEnvelopeOf(thrown, source),
        kind: classifyToolError(thrown, source),
      },
      {
        ...exceptionDetails(thrown, text),
        ...(modelText === null ? { model_text: "unknown" as const } : {}),
      },
    );
  }

  /** The tool returned a result that is a failure. */
  toolReturnedFailure(call: ToolCall, failure: ToolFailure): void {
    this.#toolError(call, failure, resultException(failure));
  }

  /** @param error why the call was cut off. It does not count as a failure of the tool. */
  toolCut(call: ToolCall, error: AgentError): void {
    const source: FailureSource = { origin: "tool", tool: call.tool };
    this.#toolError(call, {
      error: cutText(error),
      error_for_llm: renderForLlm(error, source),
      envelope: toolEnvelopeOf(error, source),
      kind: classifyToolError(error, source),
    });
  }

  #toolError(call: ToolCall, fields: ToolFailure, details?: EventDetails): void {
    const { envelope, error, error_for_llm, kind } = fields;
    this.#send(
      {
        type: "tool_error",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        error,
        error_for_llm,
        envelope,
        kind,
        duration_ms: lastedMs(call),
      },
      withDetails(withDetails(this.#envelope(), call.details), details),
    );
  }

  toolAsked(call: Pick<ToolCall, "tool" | "toolUseId">): void {
    this.#send(
      {
        type: "tool_call_asked",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
      },
      this.#envelope(),
    );
  }

  toolApproved(call: Pick<ToolCall, "tool" | "toolUseId">, decision: DecisionDetails): void {
    this.#send(
      {
        type: "tool_call_approved",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
      },
      withDetails(this.#envelope(), { decision }),
    );
  }

  toolDenied(
    call: Pick<ToolCall, "tool" | "toolUseId">,
    reason: string,
    decision: DecisionDetails,
  ): void {
    this.#send(
      {
        type: "tool_call_denied",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        reason,
      },
      withDetails(this.#envelope(), { decision }),
    );
  }

  stepStarted(step: Step, input?: unknown): void {
    this.#send(
      {
        type: "step_start",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        step_id: step.stepId,
        step: step.step,
        input,
      },
      withDetails(this.#envelope(), step.details),
    );
  }

  stepCompleted(step: Step, output?: unknown): void {
    this.#send(
      {
        type: "step_complete",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        step_id: step.stepId,
        step: step.step,
        duration_ms: lastedMs(step),
        output,
      },
      withDetails(this.#envelope(), step.details),
    );
  }

  stepFailed(step: Step, { source, text, thrown }: Failure): void {
    this.#send(
      {
        type: "step_error",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        step_id: step.stepId,
        step: step.step,
        duration_ms: lastedMs(step),
        error: text ?? operatorText(thrown),
        envelope: toolEnvelopeOf(thrown, source),
      },
      withDetails(withDetails(this.#envelope(), step.details), exceptionDetails(thrown, text)),
    );
  }

  /**
   * @param content `input`, `system_instructions` and `tools` of the request.
   * @param at time of the request. Default: now.
   */
  modelStarted(
    call: ModelCall,
    request: ModelRequest,
    content: Readonly<Record<"input" | "system_instructions" | "tools", unknown>>,
    stepId?: string,
    at?: Instant,
  ): void {
    this.#send(
      {
        type: "model_start",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        model_call_id: call.modelCallId,
        model: call.model ?? null,
        ...request,
        ...content,
      },
      withDetails(this.#envelope(stepId, at), call.details),
    );
  }

  /** @param at time of the answer's last part. Default: now. */
  modelAnswered(call: ModelCall, answer: ModelAnswer, at?: Instant): void {
    const { cost, firstOutputMs, input } = answer;
    this.#send(
      {
        type: "model_complete",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        model_call_id: call.modelCallId,
        model: call.model ?? null,
        ...(input === undefined ? {} : { input }),
        duration_ms: lastedMs(call),
        first_output_ms: firstOutputMs === undefined ? null : Math.round(firstOutputMs),
        usage: answer.usage ?? null,
        response_model: answer.responseModel ?? null,
        response_id: answer.responseId ?? null,
        finish_reasons: answer.finishReasons ?? null,
        ...(cost === undefined ? {} : { cost_usd: cost }),
        ...retriesIn(call),
        output: answer.output,
      },
      withDetails(withDetails(this.#envelope(undefined, at), call.details), costKnown(cost)),
    );
  }

  /** @param at time of the failure. Default: now. */
  modelFailed(call: ModelCall, thrown: unknown, text?: string, at?: Instant): void {
    this.#send(
      {
        type: "model_error",
        run_id: this.#runId,
        tenant_id: this.#tenantId,
        model_call_id: call.modelCallId,
        model: call.model ?? null,
        duration_ms: lastedMs(call),
        error: text ?? operatorText(thrown),
        envelope: envelopeOf(thrown, FROM_MODEL),
        kind: classifyFailure(thrown, FROM_MODEL),
        ...retriesIn(call),
      },
      withDetails(
        withDetails(this.#envelope(undefined, at), call.details),
        exceptionDetails(thrown, text),
      ),
    );
  }

  #send(event: AgentEvent, envelope: OpenEnvelope): void {
    this.#sink.send(event, envelope);
  }

  #envelope(stepId?: string, at: Instant = now()): OpenEnvelope {
    const { rootRunId, runId, subject, threadId } = this.run;
    // All fields in one literal: adding or spreading fields later is slower.
    const envelope: OpenEnvelope = {
      event_id: this.#ids.next(),
      sequence: this.#sequence?.next(),
      timestamp: at,
      thread_id: threadId,
      session_id: subject?.session_id,
      root_run_id: rootRunId === runId ? undefined : rootRunId,
      details: subject?.details,
    };
    return stepId === undefined ? envelope : withDetails(envelope, { step_id: stepId });
  }
}

/** A known cost of zero must be marked, because `"0"` alone means unknown. */
function costKnown(cost: string | undefined): EventDetails | undefined {
  return cost !== undefined && isZeroCost(cost) ? { cost_known: true } : undefined;
}

function lastedMs({ durationMs, startedMs }: Timed): number {
  return Math.max(0, Math.round(durationMs ?? performance.now() - startedMs));
}

function retriesIn({ attempts }: ModelCall): { readonly retries?: number } {
  return attempts === undefined || attempts < 2 ? {} : { retries: attempts - 1 };
}
