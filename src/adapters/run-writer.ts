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
  /** Content. */
  readonly asked?: unknown;
}

/** A tool call. */
export interface ToolCall {
  readonly toolUseId: string;
  readonly tool: string;
  /** From `performance.now()`. */
  readonly startedMs: number;
}

/** A model call. */
export interface ModelCall {
  readonly modelCallId: string;
  readonly model: string | undefined;
  /** How often the provider was asked, with all retries. Default: not known. */
  readonly attempts?: number;
  /** From `performance.now()`. */
  readonly startedMs: number;
}

/** A part of a run that is neither a call nor a run. */
export interface Step {
  readonly stepId: string;
  readonly step: string;
  /** From `performance.now()`. */
  readonly startedMs: number;
}

/** When a call ended, if that is known only later. */
export interface EndedAt {
  readonly at: Instant;
  /** From `performance.now()`. */
  readonly ms: number;
}

/** What a model answered. */
export interface ModelAnswer {
  /** Default: now. */
  readonly ended?: EndedAt | undefined;
  /** Content: the request's messages, where they were not known at the start. */
  readonly input?: unknown;
  readonly usage?: ModelCallUsage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  /** As decimal text. */
  readonly cost?: string | undefined;
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
  readonly #sink: SafeSink;
  readonly #ids = new IdCounter();
  readonly #sequence = new SequenceCounter();
  readonly #names: { readonly run_id: string; readonly tenant_id: string };

  constructor(sink: SafeSink, place: RunPlace) {
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
    const envelope = this.#envelope(parentStepId);
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

  failed({ source, text, thrown }: Failure, at?: Instant): void {
    this.#send(
      {
        type: "failed",
        ...this.#names,
        error: text ?? operatorText(thrown),
        envelope: envelopeOf(thrown, source),
        kind: classifyFailure(thrown, source),
      },
      withDetails(this.#envelope(undefined, at), exceptionDetails(thrown, text)),
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
    const envelope = this.#envelope(stepId);
    if (description !== undefined) withDetails(envelope, { tool_description: description });
    this.#send({ type: "tool_start", ...this.#named(call), input }, envelope);
  }

  toolCompleted(call: ToolCall, output: unknown): void {
    this.#send(
      { type: "tool_complete", ...this.#named(call), duration_ms: sinceMs(call), output },
      this.#envelope(),
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
        duration_ms: sinceMs(call),
      },
      withDetails(this.#envelope(), details),
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

  /** @param content of the request: `input`, `system_instructions`, `tools`. */
  modelStarted(
    call: ModelCall,
    request: ModelRequest,
    content: Readonly<Record<"input" | "system_instructions" | "tools", unknown>>,
    stepId?: string,
    at?: Instant,
  ): void {
    this.#send(
      { type: "model_start", ...this.#modelNames(call), ...request, ...content },
      this.#envelope(stepId, at),
    );
  }

  modelAnswered(call: ModelCall, answer: ModelAnswer): void {
    const { cost, ended, firstOutputMs, input } = answer;
    this.#send(
      {
        type: "model_complete",
        ...this.#modelNames(call),
        ...(input === undefined ? {} : { input }),
        duration_ms: sinceMs(call, ended),
        first_output_ms: firstOutputMs === undefined ? null : Math.round(firstOutputMs),
        usage: answer.usage ?? null,
        response_model: answer.responseModel ?? null,
        response_id: answer.responseId ?? null,
        finish_reasons: answer.finishReasons ?? null,
        ...(cost === undefined ? {} : { cost_usd: cost }),
        ...retriesIn(call),
        output: answer.output,
      },
      withDetails(this.#envelope(undefined, ended?.at), costKnown(cost)),
    );
  }

  modelFailed(call: ModelCall, thrown: unknown, text?: string, ended?: EndedAt): void {
    this.#send(
      {
        type: "model_error",
        ...this.#modelNames(call),
        duration_ms: sinceMs(call, ended),
        error: text ?? operatorText(thrown),
        envelope: envelopeOf(thrown, FROM_MODEL),
        kind: classifyFailure(thrown, FROM_MODEL),
        ...retriesIn(call),
      },
      withDetails(this.#envelope(undefined, ended?.at), exceptionDetails(thrown, text)),
    );
  }

  /** @param within the step or tool call of the run that it is part of. */
  stepStarted(step: Step, within: { readonly stepId?: string; readonly toolUseId?: string }): void {
    const { stepId, toolUseId } = within;
    const details = toolUseId === undefined ? undefined : { tool_use_id: toolUseId };
    this.#send(
      { type: "step_start", ...this.#stepNames(step) },
      withDetails(this.#envelope(stepId), details),
    );
  }

  stepCompleted(step: Step): void {
    this.#send(
      { type: "step_complete", ...this.#stepNames(step), duration_ms: sinceMs(step) },
      this.#envelope(),
    );
  }

  /** The step failed, paused its run or was cut off. */
  stepFailed(step: Step, { source, text, thrown }: Failure): void {
    this.#send(
      {
        type: "step_error",
        ...this.#stepNames(step),
        duration_ms: sinceMs(step),
        error: text ?? operatorText(thrown),
        envelope: toolEnvelopeOf(thrown, source),
      },
      withDetails(this.#envelope(), exceptionDetails(thrown, text)),
    );
  }

  #stepNames({ step, stepId }: Step) {
    return { ...this.#names, step_id: stepId, step };
  }

  #named({ tool, toolUseId }: Pick<ToolCall, "tool" | "toolUseId">) {
    return { ...this.#names, tool_use_id: toolUseId, tool };
  }

  #modelNames({ model, modelCallId }: ModelCall) {
    return { ...this.#names, model_call_id: modelCallId, model: model ?? null };
  }

  #send(event: AgentEvent, envelope: OpenEnvelope): void {
    this.#sink.send(event, envelope);
  }

  #envelope(stepId?: string, at: Instant = now()): OpenEnvelope {
    const { rootRunId, runId, subject, threadId } = this.place;
    const envelope: OpenEnvelope = {
      event_id: this.#ids.next(),
      sequence: this.#sequence.next(),
      timestamp: at,
      thread_id: threadId,
      root_run_id: rootRunId === runId ? undefined : rootRunId,
      ...subject,
    };
    return stepId === undefined ? envelope : withDetails(envelope, { step_id: stepId });
  }
}

function retriesIn({ attempts }: ModelCall): { readonly retries?: number } {
  return attempts === undefined || attempts < 2 ? {} : { retries: attempts - 1 };
}

/** A cost of zero is one: somebody has said so. */
function costKnown(cost: string | undefined): EventDetails | undefined {
  return cost !== undefined && isZeroCost(cost) ? { cost_known: true } : undefined;
}

function sinceMs({ startedMs }: { readonly startedMs: number }, ended?: EndedAt): number {
  return Math.max(0, Math.round((ended?.ms ?? performance.now()) - startedMs));
}
