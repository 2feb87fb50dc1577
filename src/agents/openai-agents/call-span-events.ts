import {
  type ContentNeed,
  classifyFailure,
  classifyToolError,
  type DecisionDetails,
  type EventDetails,
  envelopeOf,
  FROM_MODEL,
  type InputMessage,
  type Instant,
  type ModelComplete,
  millisecondsBetween,
  parseExact,
  readsRows,
  renderForLlm,
  resultException,
  resultText,
  type ToolFailure,
  toMessages,
  toolEnvelopeOf,
} from "../../events/door.ts";
import {
  describedIn,
  type OpenEnvelope,
  type SafeSink,
  textOf,
  withDetails,
} from "../core/door.ts";
import { isZeroCost } from "../runtime/door.ts";
import { eventIdOf, type SpanEvent } from "./ids.ts";
import { exceptionIn, type ParsedError, thrownIn } from "./parse-span-error.ts";
import { noteAnswer, noteQuestion } from "./run-content.ts";
import type { ModelAnswer } from "./span-answer.ts";
import { requestedModel, requestIn } from "./span-request.ts";
import {
  type AgentRun,
  type Failure,
  type OpenModel,
  type OpenTool,
  type TraceRecord,
  topRunId,
} from "./trace-record.ts";

/** A call, with its run and its trace. */
export interface CallScope<Open = OpenTool | OpenModel> {
  readonly trace: TraceRecord;
  readonly run: AgentRun;
  readonly open: Open;
}

export type ToolScope = CallScope<OpenTool>;
export type ModelScope = CallScope<OpenModel>;

/** Sends the events of tool calls and model calls. */
export class CallEvents {
  readonly #sink: SafeSink;

  constructor(sink: SafeSink) {
    this.#sink = sink;
  }

  get contentNeed(): ContentNeed {
    return this.#sink.contentNeed;
  }

  toolStarted({ trace, run, open }: ToolScope): void {
    const { name, input } = open.span.spanData;
    const description = describedIn(run.tools, textOf(name) ?? "");
    const sent = envelope(trace, run, open, "start", open.startedAt);
    if (description !== undefined)
      sent.details = { ...sent.details, tool_description: description };
    this.#sink.send(
      {
        type: "tool_start",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        tool_use_id: open.scope.toolUseId,
        tool: textOf(name) ?? "",
        input: this.contentNeed === "none" ? undefined : inputIn(input),
      },
      sent,
    );
  }

  toolApproved({ trace, run, open }: ToolScope, decision: DecisionDetails): void {
    this.#sink.send(
      {
        type: "tool_call_approved",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        tool_use_id: open.scope.toolUseId,
        tool: textOf(open.span.spanData.name) ?? "",
      },
      withDetails(envelope(trace, run, open, "approved", open.startedAt), { decision }),
    );
  }

  toolDenied(
    { trace, run, open }: ToolScope,
    at: Instant,
    reason: string,
    decision: DecisionDetails,
  ): void {
    this.#sink.send(
      {
        type: "tool_call_denied",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        tool_use_id: open.scope.toolUseId,
        tool: textOf(open.span.spanData.name) ?? "",
        reason,
      },
      withDetails(envelope(trace, run, open, "denied", at), { decision }),
    );
  }

  toolCompleted({ trace, run, open }: ToolScope, at: Instant): void {
    const { name, output } = open.span.spanData;
    this.#sink.send(
      {
        type: "tool_complete",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        tool_use_id: open.scope.toolUseId,
        tool: textOf(name) ?? "",
        duration_ms: lasted(open, at),
        output,
      },
      envelope(trace, run, open, "end", at),
    );
  }

  /** @param isShown whether the SDK shows the failure to the model. The span may have that text. */
  toolFailed(
    scope: ToolScope,
    at: Instant,
    { parsed, source }: Failure,
    isShown: boolean = false,
  ): void {
    const thrown = thrownIn(parsed);
    const shown = isShown ? resultOf(scope.open) : undefined;
    const failure = {
      error: parsed.text,
      error_for_llm: isShown ? resultText(shown ?? "") : renderForLlm(thrown, source),
      envelope: toolEnvelopeOf(thrown, source),
      kind: classifyToolError(thrown, source),
    };
    const isUnknown = isShown && shown === undefined;
    const details = exceptionIn(parsed);
    this.#toolError(
      scope,
      at,
      failure,
      isUnknown ? { ...details, model_text: "unknown" } : details,
    );
  }

  toolFailedWith(scope: ToolScope, at: Instant, failure: ToolFailure): void {
    this.#toolError(scope, at, failure, resultException(failure));
  }

  #toolError(
    { trace, run, open }: ToolScope,
    at: Instant,
    failure: ToolFailure,
    details: EventDetails | undefined,
  ): void {
    const { envelope: error, error_for_llm, kind } = failure;
    this.#sink.send(
      {
        type: "tool_error",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        tool_use_id: open.scope.toolUseId,
        tool: textOf(open.span.spanData.name) ?? "",
        error: failure.error,
        error_for_llm,
        envelope: error,
        kind,
        duration_ms: lasted(open, at),
      },
      withDetails(envelope(trace, run, open, "end", at), details),
    );
  }

  modelStarted({ trace, run, open }: ModelScope): void {
    const input = this.#askedOf(trace, run, open);
    const { spanData } = open.span;
    open.inputSent = input !== undefined;
    this.#sink.send(
      {
        type: "model_start",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        model_call_id: open.span.spanId,
        model: requestedModel(spanData) ?? null,
        ...requestIn(spanData),
        input,
      },
      envelope(trace, run, open, "start", open.startedAt),
    );
  }

  /** @param cost US dollars as decimal text, if known. */
  modelAnswered(
    { trace, run, open }: ModelScope,
    at: Instant,
    answer: ModelAnswer,
    cost: string | undefined,
  ): void {
    const event: Open<ModelComplete> = {
      type: "model_complete",
      run_id: run.runId,
      tenant_id: trace.tenantId,
      model_call_id: open.span.spanId,
      model: answer.model ?? null,
      ...requestIn(open.span.spanData),
      duration_ms: lasted(open, at),
      usage: answer.usage ?? null,
      response_model: answer.responseModel ?? null,
      response_id: answer.responseId ?? null,
      finish_reasons: answer.finishReasons ?? null,
      output: answer.output,
      ...(answer.instructions === undefined ? {} : { system_instructions: answer.instructions }),
      ...(answer.tools === undefined ? {} : { tools: answer.tools }),
    };
    if (answer.output !== undefined && isOwn(open)) noteAnswer(trace, run, answer.output);
    // The span of a complete (not streamed) response gets the input only at its end.
    if (!open.inputSent) event.input = this.#askedOf(trace, run, open);
    if (cost !== undefined) event.cost_usd = cost;
    const sent = envelope(trace, run, open, "end", at);
    if (cost !== undefined && isZeroCost(cost)) {
      sent.details = { ...sent.details, cost_known: true };
    }
    this.#sink.send(event, sent);
  }

  modelFailed({ trace, run, open }: ModelScope, at: Instant, parsed: ParsedError): void {
    const thrown = thrownIn(parsed);
    const kind = classifyFailure(thrown, FROM_MODEL);
    this.#sink.send(
      {
        type: "model_error",
        run_id: run.runId,
        tenant_id: trace.tenantId,
        model_call_id: open.span.spanId,
        model: requestedModel(open.span.spanData) ?? null,
        duration_ms: lasted(open, at),
        error: parsed.text,
        envelope: envelopeOf(thrown, FROM_MODEL),
        kind,
      },
      withDetails(envelope(trace, run, open, "end", at), exceptionIn(parsed)),
    );
  }

  /** The model's input, if the span already has it and the sink reads it. */
  #askedOf(
    trace: TraceRecord,
    run: AgentRun,
    open: OpenModel,
  ): readonly InputMessage[] | undefined {
    const { spanData } = open.span;
    const given = spanData.type === "response" ? spanData._input : spanData.input;
    if (given === undefined || given === null) return undefined;
    const isQuestion = isOwn(open) && run.question === undefined;
    const need = this.contentNeed;
    if (!readsRows(need) || (need === "rows" && !isQuestion)) return undefined;
    const messages = toMessages(given);
    if (isQuestion) noteQuestion(trace, run, messages);
    return messages;
  }
}

type Open<E> = { -readonly [K in keyof E]: E[K] };

/** The text that the SDK gave the model instead of a result. Spans without sensitive data do not have it. */
function resultOf({ span }: OpenTool): string | undefined {
  return textOf(span.spanData.output);
}

/** Whether the model belongs to the agent, and not to code of a tool. */
function isOwn({ scope }: OpenModel): boolean {
  return scope.toolUseId === undefined;
}

/**
 * The input of a tool. The SDK has it as JSON text. Other text, such as a search query, is unchanged. So is JSON that
 * is not an object, because it may be such a text.
 */
function inputIn(given: unknown): unknown {
  const text = textOf(given);
  if (text === undefined) return given === "" ? undefined : given;
  if (!text.startsWith("{")) return text;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** The event's ID is derived from the SDK's span, so that duplicates are recognised. */
function envelope(
  trace: TraceRecord,
  run: AgentRun,
  { span }: CallScope["open"],
  what: SpanEvent,
  timestamp: Readonly<Instant>,
): OpenEnvelope {
  const { subject, threadId } = trace;
  const event_id = eventIdOf(span.spanId, what);
  const root_run_id = topRunId(trace, run);
  const envelope: OpenEnvelope =
    threadId === undefined
      ? { event_id, timestamp, root_run_id }
      : { event_id, timestamp, root_run_id, thread_id: threadId };
  return subject === undefined ? envelope : { ...envelope, ...subject };
}

function lasted({ startedAt }: CallScope["open"], at: Instant): number {
  return Math.max(0, Math.round(millisecondsBetween(startedAt, at)));
}
