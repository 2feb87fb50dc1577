import type { AgentError } from "../errors/agent-error.ts";
import type { InterruptionKind } from "../errors/agent-error-detail.ts";
import {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
  toolEnvelopeOf,
} from "../errors/classify.ts";
import { exceptionDetails, resultException } from "../errors/exception-of.ts";
import { type FailureSource, FROM_MODEL, sourceMoment } from "../errors/failure-source.ts";
import { resultText } from "../errors/llm-text.ts";
import { cutText, operatorText } from "../errors/thrown.ts";
import type { ToolFailure } from "../errors/tool-result.ts";
import type { AgentEvent, UsageSnapshot } from "../events/agent-event.ts";
import { now } from "../events/clock.ts";
import type { DecisionDetails, EventDetails } from "../events/event-details.ts";
import { SequenceCounter } from "../events/event-envelope.ts";
import type { Instant } from "../events/instant.ts";
import type { ModelCallUsage } from "../events/model-event.ts";
import { IdCounter } from "../runtime/event-line.ts";
import { isZeroCost } from "../runtime/price.ts";
import type { SubjectFields } from "../runtime/run-subject.ts";
import type { ModelRequest } from "./model-request.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "./safe-sink.ts";

/** A run as its events name it. */
export interface RunPlace {
  readonly runId: string;
  readonly rootRunId: string;
  readonly tenantId: string;
  readonly threadId?: string | undefined;
  readonly subject?: SubjectFields | undefined;
}

/** Where a run begins, and from what. */
export interface Beginning {
  readonly agent: string;
  readonly parentRunId?: string | undefined;
  /** `null` where it is known to be none. */
  readonly parentToolUseId?: string | null | undefined;
  readonly parentStepId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** The context of a caller in another process, that is trusted. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Content. */
  readonly asked?: unknown;
  readonly details?: EventDetails | undefined;
}

/** What every part of a run has. */
interface Timed {
  /** From `performance.now()`. */
  readonly startedMs: number;
  /** As the framework measured it, in ms. Default: the time since the start. */
  readonly durationMs?: number | undefined;
  /** Sent with its start, and with its end as it is then. */
  readonly details?: EventDetails | undefined;
}

/** A tool call. */
export interface ToolCall extends Timed {
  readonly toolUseId: string;
  readonly tool: string;
}

/** A part of a run that is neither a call nor a run. */
export interface Step extends Timed {
  readonly stepId: string;
  readonly step: string;
}

/** A model call. */
export interface ModelCall extends Timed {
  readonly modelCallId: string;
  readonly model: string | undefined;
  /** How often the provider was asked, with all retries. Default: not known. */
  readonly attempts?: number;
}

/** What a model answered. */
export interface ModelAnswer {
  readonly usage?: ModelCallUsage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  /** As decimal text. */
  readonly cost?: string | undefined;
  /** Content: the request's messages, where they were not known at the start. */
  readonly input?: unknown;
  /** Content. */
  readonly output?: unknown;
}

/** Why a run or call failed. */
export interface Failure {
  readonly thrown: unknown;
  /** The innermost call that it came out of. */
  readonly source: FailureSource;
  /** The operator's text, where the error's own may quote content. */
  readonly text?: string | undefined;
  readonly details?: EventDetails | undefined;
}

/**
 * What the model received of a tool's failure. Default: our own text. `null`: that is not known.
 */
export type ModelText = string | null | undefined;

/** The fields of a call that is just being started. */
export function startedNow(): { readonly startedMs: number; readonly since: number } {
  return { startedMs: performance.now(), since: sourceMoment() };
}

/** Writes the events of one run of an adapter, in order, each with an ID and the time. */
export class RunWriter {
  readonly place: RunPlace;
  readonly #sink: Pick<SafeSink, "send">;
  readonly #ids = new IdCounter();
  readonly #sequence: SequenceCounter | undefined;
  readonly #names: { readonly run_id: string; readonly tenant_id: string };

  /**
   * @param others whether something else sends events of this run as well: then these have no
   *   sequence numbers.
   */
  constructor(sink: Pick<SafeSink, "send">, place: RunPlace, others = false) {
    this.#sequence = others ? undefined : new SequenceCounter();
    this.#sink = sink;
    this.place = place;
    this.#names = { run_id: place.runId, tenant_id: place.tenantId };
  }

  /** An ID for a call that has none. */
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
    this.#send({ type: "started", ...this.#names, parent_run_id, agent }, envelope);
  }

  /** @param usage of the run at the top, for all below. */
  completed(usage: UsageSnapshot | null, details?: EventDetails): void {
    const cost = usage?.cost_usd ?? undefined;
    const envelope = withDetails(this.#envelope(), costKnown(cost));
    this.#send(
      { type: "complete", ...this.#names, state: null, usage },
      withDetails(envelope, details),
    );
  }

  failed({ details, source, text, thrown }: Failure, at?: Instant): void {
    this.#send(
      {
        type: "failed",
        ...this.#names,
        error: text ?? operatorText(thrown),
        envelope: envelopeOf(thrown, source),
        kind: classifyFailure(thrown, source),
      },
      withDetails(this.#envelope(undefined, at), { ...details, ...exceptionDetails(thrown, text) }),
    );
  }

  /** @param asked content: what the run asks. */
  interrupted(kind: InterruptionKind, payload: unknown, asked: unknown): void {
    const details = asked === undefined ? undefined : { output: asked };
    this.#send(
      { type: "interrupted", ...this.#names, kind, payload },
      withDetails(this.#envelope(), details),
    );
  }

  /** @param description what the tool is for. */
  toolStarted(call: ToolCall, input: unknown, description?: string, stepId?: string): void {
    const envelope = withDetails(this.#envelope(stepId), call.details);
    if (description !== undefined) withDetails(envelope, { tool_description: description });
    this.#send({ type: "tool_start", ...this.#named(call), input }, envelope);
  }

  toolCompleted(call: ToolCall, output: unknown): void {
    this.#send(
      { type: "tool_complete", ...this.#named(call), duration_ms: lastedMs(call), output },
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

  /** The tool returned that it failed. */
  toolReturnedFailure(call: ToolCall, failure: ToolFailure): void {
    this.#toolError(call, failure, resultException(failure));
  }

  /** @param error what cut it off: no failure of the tool. */
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
        ...this.#named(call),
        error,
        error_for_llm,
        envelope,
        kind,
        duration_ms: lastedMs(call),
      },
      withDetails(withDetails(this.#envelope(), call.details), details),
    );
  }

  toolApproved(call: Pick<ToolCall, "tool" | "toolUseId">, decision: DecisionDetails): void {
    this.#send(
      { type: "tool_call_approved", ...this.#named(call) },
      withDetails(this.#envelope(), { decision }),
    );
  }

  toolDenied(
    call: Pick<ToolCall, "tool" | "toolUseId">,
    reason: string,
    decision: DecisionDetails,
  ): void {
    this.#send(
      { type: "tool_call_denied", ...this.#named(call), reason },
      withDetails(this.#envelope(), { decision }),
    );
  }

  stepStarted(step: Step, input?: unknown): void {
    this.#send(
      { type: "step_start", ...this.#stepNames(step), input },
      withDetails(this.#envelope(), step.details),
    );
  }

  stepCompleted(step: Step, output?: unknown): void {
    this.#send(
      { type: "step_complete", ...this.#stepNames(step), duration_ms: lastedMs(step), output },
      withDetails(this.#envelope(), step.details),
    );
  }

  stepFailed(step: Step, { source, text, thrown }: Failure): void {
    this.#send(
      {
        type: "step_error",
        ...this.#stepNames(step),
        duration_ms: lastedMs(step),
        error: text ?? operatorText(thrown),
        envelope: toolEnvelopeOf(thrown, source),
      },
      withDetails(withDetails(this.#envelope(), step.details), exceptionDetails(thrown, text)),
    );
  }

  /**
   * @param content of the request: `input`, `system_instructions`, `tools`.
   * @param at when the model was asked. Default: now.
   */
  modelStarted(
    call: ModelCall,
    request: ModelRequest,
    content: Readonly<Record<"input" | "system_instructions" | "tools", unknown>>,
    stepId?: string,
    at?: Instant,
  ): void {
    this.#send(
      { type: "model_start", ...this.#modelNames(call), ...request, ...content },
      withDetails(this.#envelope(stepId, at), call.details),
    );
  }

  /** @param at when the last of the answer came. Default: now. */
  modelAnswered(call: ModelCall, answer: ModelAnswer, at?: Instant): void {
    const { cost, firstOutputMs, input } = answer;
    this.#send(
      {
        type: "model_complete",
        ...this.#modelNames(call),
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

  /** @param at when it failed. Default: now. */
  modelFailed(call: ModelCall, thrown: unknown, text?: string, at?: Instant): void {
    this.#send(
      {
        type: "model_error",
        ...this.#modelNames(call),
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

  #named({ tool, toolUseId }: Pick<ToolCall, "tool" | "toolUseId">) {
    return { ...this.#names, tool_use_id: toolUseId, tool };
  }

  #stepNames({ step, stepId }: Step) {
    return { ...this.#names, step_id: stepId, step };
  }

  #modelNames({ model, modelCallId }: ModelCall) {
    return { ...this.#names, model_call_id: modelCallId, model: model ?? null };
  }

  #send(event: AgentEvent, envelope: OpenEnvelope): void {
    this.#sink.send(event, envelope);
  }

  #envelope(stepId?: string, at: Instant = now()): OpenEnvelope {
    const { rootRunId, runId, subject, threadId } = this.place;
    // Whole from the start, and field by field: spreading costs more than all that is in it.
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
