import {
  type AgentError,
  classifyFailure,
  cutText,
  type DecisionDetails,
  type EventDetails,
  envelopeOf,
  exceptionDetails,
  type FailureSource,
  FROM_MODEL,
  failureInResult,
  type IsFailure,
  type ModelComplete,
  type ModelError,
  type ModelOperation,
  type NotMade,
  notMadeFailure,
  operatorText,
  recordSource,
  resultException,
  resultText,
  type ToolFailure,
  withoutAdded,
} from "../../events/door.ts";
import {
  costKnown,
  EventWriter,
  lastedMs,
  type OpenEnvelope,
  withDetails,
} from "./event-writer.ts";
import { OpenCalls } from "./open-calls.ts";
import {
  type Failure,
  type ModelAnswer,
  type ModelCall,
  type ModelRequest,
  type ModelText,
  type ModelUse,
  NOW,
  type RequestContent,
  type Stamp,
  type ToolCall,
  type UnmadeCall,
} from "./run-parts.ts";
import { toolFailureOf } from "./tool-failure.ts";

type Open<T> = { -readonly [K in keyof T]: T[K] };

type CallNames = Pick<ToolCall, "key" | "tool" | "toolUseId">;

/** How to find out whether a tool's result is a failure. */
export interface ResultOptions {
  readonly isFailure: IsFailure | undefined;
  readonly onError: (error: unknown) => void;
}

/** Sends the events of tool calls, decisions about them, and model calls. */
export class CallWriter<T = void, C extends ToolCall = ToolCall> extends EventWriter<T> {
  /** The tool calls that began and have no end. */
  readonly open = new OpenCalls<C>();

  /**
   * A call begins. If another call of its ID is open, it gets a key, so that each gets its own decision and end.
   * {@link toolStarted} calls this. Only calls with a decision before their start begin earlier.
   */
  begin(call: C): void {
    this.#named(call);
    this.open.add(call);
  }

  #named(call: ToolCall): void {
    if (call.key === undefined && this.open.hasOther(call)) call.key = this.newId();
  }

  /** Ends the open tool calls as cut off, in the order of their starts. Their tools did not fail. */
  cutTools(error: AgentError, on?: (call: C) => Stamp): void {
    for (const call of this.open) this.toolCut(call, error, on?.(call));
  }

  /**
   * The innermost call that threw the error: this one, unless the error came to it from a call inside it. Records it
   * for the calls and runs around it.
   *
   * @param call with its start (`sourceMoment`).
   * @param cut why the call was cut off. A run that fails with the same value is stopped, too. Default: it failed.
   */
  sourceOf(
    thrown: unknown,
    call: Pick<ToolCall, "tool"> & { since: number },
    cut?: AgentError,
  ): FailureSource {
    const { since, tool } = call;
    const { rootRunId } = this.run;
    return recordSource(thrown, { origin: "tool", tool }, { rootRunId, since }, cut);
  }

  /** @param description the tool's description. */
  toolStarted(call: C, input: unknown, description?: string, stepId?: string, on: Stamp = NOW): T {
    this.begin(call);
    return this.#toolStart(call, input, description, stepId, on);
  }

  #toolStart(
    call: ToolCall,
    input: unknown,
    description: string | undefined,
    stepId: string | undefined,
    on: Stamp,
  ): T {
    const envelope = keyed(withDetails(this.envelope(on, stepId), call.details), call);
    if (description !== undefined) withDetails(envelope, { tool_description: description });
    return this.send(
      {
        type: "tool_start",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        tool_version: call.version ?? null,
        input,
      },
      envelope,
    );
  }

  toolCompleted(call: ToolCall, output: unknown, on: Stamp = NOW): T {
    this.open.delete(call);
    return this.send(
      {
        type: "tool_complete",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        tool_version: call.version ?? null,
        duration_ms: lastedMs(call),
        output,
      },
      keyed(withDetails(this.envelope(on), call.details), call),
    );
  }

  toolFailed(call: ToolCall, failure: Failure, modelText?: ModelText, on: Stamp = NOW): T {
    const { envelope, shown, source, text, thrown } = withoutAdded(failure);
    const made = toolFailureOf(thrown, source, text);
    const fields = envelope === undefined ? made : { ...made, envelope };
    const exception = exceptionDetails(thrown, text, shown);
    if (modelText === undefined) return this.toolThrew(call, fields, exception, on);
    return this.toolThrew(
      call,
      { ...fields, error_for_llm: resultText(modelText ?? "") },
      modelText === null ? { ...exception, model_text: "unknown" } : exception,
      on,
    );
  }

  /**
   * The tool returned. Its result may be a failure.
   *
   * @param shown content: the result to send.
   * @param from `isFailure` decides. Its errors go to `onError`.
   */
  toolReturned(
    call: ToolCall,
    result: unknown,
    shown: unknown,
    { isFailure, onError }: ResultOptions,
    on: Stamp = NOW,
  ): T {
    const failure = failureInResult(result, call, isFailure, onError);
    if (failure === undefined) return this.toolCompleted(call, shown, on);
    return this.toolReturnedFailure(call, failure, on);
  }

  /** The tool returned a result that is a failure. */
  toolReturnedFailure(call: ToolCall, failure: ToolFailure, on: Stamp = NOW): T {
    return this.toolThrew(call, failure, resultException(failure), on);
  }

  /** A call that the framework answered without calling the tool. Sends its start and its end. */
  toolNotMade(call: ToolCall, unmade: UnmadeCall, onStart = NOW, onEnd = NOW): void {
    this.#named(call);
    this.#toolStart(call, unmade.input, unmade.description, unmade.stepId, onStart);
    this.toolRefused(call, unmade.code, unmade.text, onEnd);
  }

  /**
   * The framework answered a call that started, without calling the tool.
   *
   * @param text content: the text that the model received. `null`: not known.
   */
  toolRefused(call: ToolCall, code: NotMade, text: string | null, on: Stamp = NOW): T {
    const failure = notMadeFailure(call.tool, code, text ?? "");
    const details: EventDetails = resultException(failure);
    const isKnown = text !== null;
    return this.toolThrew(
      call,
      failure,
      isKnown ? details : { ...details, model_text: "unknown" },
      on,
    );
  }

  /** @param error why the call was cut off. It does not count as a failure of the tool. */
  toolCut(call: ToolCall, error: AgentError, on: Stamp = NOW): T {
    const source: FailureSource = { origin: "tool", tool: call.tool };
    return this.toolThrew(call, toolFailureOf(error, source, cutText(error)), undefined, on);
  }

  /** @param details of this event, such as the exception. */
  toolThrew(
    call: ToolCall,
    fields: ToolFailure,
    details: EventDetails | undefined,
    on: Stamp = NOW,
  ): T {
    const { envelope, error, error_for_llm, kind } = fields;
    this.open.delete(call);
    return this.send(
      {
        type: "tool_error",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        tool_version: call.version ?? null,
        error,
        error_for_llm,
        envelope,
        kind,
        duration_ms: lastedMs(call),
      },
      keyed(withDetails(withDetails(this.envelope(on), call.details), details), call),
    );
  }

  toolAsked(call: CallNames): T {
    return this.send(
      {
        type: "tool_call_asked",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
      },
      keyed(this.envelope(NOW), call),
    );
  }

  toolApproved(call: CallNames, decision: DecisionDetails, stepId?: string, on: Stamp = NOW): T {
    return this.send(
      {
        type: "tool_call_approved",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
      },
      keyed(withDetails(this.envelope(on, stepId), { decision }), call),
    );
  }

  toolDenied(
    call: CallNames,
    reason: string,
    decision: DecisionDetails,
    stepId?: string,
    on: Stamp = NOW,
  ): T {
    return this.send(
      {
        type: "tool_call_denied",
        run_id: this.runId,
        tenant_id: this.tenantId,
        tool_use_id: call.toolUseId,
        tool: call.tool,
        reason,
      },
      keyed(withDetails(this.envelope(on, stepId), { decision }), call),
    );
  }

  /**
   * @param content `input`, `system_instructions` and `tools` of the request.
   * @param on with the time of the request.
   */
  modelStarted(
    call: ModelCall,
    request: ModelRequest,
    content: RequestContent,
    stepId?: string,
    on: Stamp = NOW,
  ): T {
    const operation = operationOf(call);
    return this.send(
      {
        type: "model_start",
        run_id: this.runId,
        tenant_id: this.tenantId,
        model_call_id: call.modelCallId,
        model: call.model ?? null,
        ...request,
        ...content,
        ...(operation === undefined ? {} : { operation }),
      },
      withDetails(this.envelope(on, stepId), call.details),
    );
  }

  /** @param on with the time of the answer's last part. */
  modelAnswered(call: ModelCall, given: ModelAnswer, on: Stamp = NOW): T {
    const answer = withoutAdded(given);
    const { content, cost, firstOutputMs: firstMs, provider, request } = answer;
    const event: Open<ModelComplete> = {
      type: "model_complete",
      run_id: this.runId,
      tenant_id: this.tenantId,
      model_call_id: call.modelCallId,
      model: call.model ?? null,
      duration_ms: lastedMs(call),
      first_output_ms: firstMs === undefined ? null : Math.round(firstMs),
      usage: answer.usage ?? null,
      response_model: answer.responseModel ?? null,
      response_id: answer.responseId ?? null,
      finish_reasons: answer.finishReasons ?? null,
      output: answer.output,
    };
    // Few answers have these. Spreading them into the literal would double the time of each.
    if (request !== undefined) Object.assign(event, request);
    if (content !== undefined) Object.assign(event, content);
    if (provider !== undefined) event.provider = provider;
    if (cost !== undefined) event.cost_usd = cost;
    const operation = operationOf(call);
    if (operation !== undefined) event.operation = operation;
    const retries = retriesOf(call);
    if (retries !== undefined) event.retries = retries;
    const envelope = withDetails(this.envelope(on), call.details);
    return this.send(event, withDetails(envelope, costKnown(cost)));
  }

  modelFailed(call: ModelCall, failure: ModelFailure, on: Stamp = NOW): T {
    const { cost, shown, text, thrown } = withoutAdded(failure);
    const details = { ...exceptionDetails(thrown, text, shown), ...costKnown(cost) };
    return this.#modelError(call, failure, details, on);
  }

  /** @param error why the call was cut off. It is not an exception of the call. */
  modelCut(call: ModelCall, error: AgentError, use?: ModelUse, on: Stamp = NOW): T {
    const failure = { ...use, thrown: error, text: cutText(error) };
    return this.#modelError(call, failure, costKnown(use?.cost), on);
  }

  #modelError(call: ModelCall, given: ModelFailure, details?: EventDetails, on: Stamp = NOW): T {
    const failure = withoutAdded(given);
    const { cost, responseId, responseModel, server, thrown, usage } = failure;
    const event: Open<ModelError> = {
      type: "model_error",
      run_id: this.runId,
      tenant_id: this.tenantId,
      model_call_id: call.modelCallId,
      model: call.model ?? null,
      duration_ms: lastedMs(call),
      error: failure.text ?? operatorText(thrown),
      envelope: failure.envelope ?? envelopeOf(thrown, FROM_MODEL),
      kind: failure.kind ?? classifyFailure(thrown, FROM_MODEL),
    };
    const provider = failure.provider ?? call.provider;
    if (provider !== undefined) event.provider = provider;
    if (usage !== undefined) event.usage = usage;
    if (cost !== undefined) event.cost_usd = cost;
    if (responseModel !== undefined) event.response_model = responseModel;
    if (responseId !== undefined) event.response_id = responseId;
    if (server !== undefined) Object.assign(event, server);
    const operation = operationOf(call);
    if (operation !== undefined) event.operation = operation;
    const retries = retriesOf(call);
    if (retries !== undefined) event.retries = retries;
    return this.send(event, withDetails(withDetails(this.envelope(on), call.details), details));
  }
}

/** Why a model call failed, what it used, and its server, if that was not known at the start. */
interface ModelFailure extends Omit<Failure, "source">, ModelUse {
  readonly server?: Pick<ModelRequest, "server_address" | "server_port"> | undefined;
}

/** Adds the call's key, if it has one. */
function keyed(envelope: OpenEnvelope, { key }: CallNames): OpenEnvelope {
  return key === undefined ? envelope : withDetails(envelope, { call_key: key });
}

function retriesOf({ attempts }: ModelCall): number | undefined {
  return attempts === undefined || attempts < 2 ? undefined : attempts - 1;
}

/** `undefined` for the default, since most calls are chats. */
function operationOf({ operation }: ModelCall): ModelOperation | undefined {
  return operation === "chat" ? undefined : operation;
}
