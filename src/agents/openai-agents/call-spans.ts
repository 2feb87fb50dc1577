import {
  AgentError,
  type ContentNeed,
  cutText,
  type DecisionDetails,
  type FailureSource,
  FROM_MODEL,
  type Instant,
  type ModelCallUsage,
  millisecondsBetween,
} from "../../events/door.ts";
import {
  countUse,
  describedIn,
  type Fence,
  type ModelCall,
  type ModelCallOptions,
  PAUSED,
  type ResultOptions,
  type Stamp,
  type ToolCall,
  textOf,
} from "../core/door.ts";
import { cutBy } from "../runtime/door.ts";
import type { Approvals } from "./approvals.ts";
import { askedCall, asks, begins, hasTwin, isUnfit } from "./asked-calls.ts";
import { DecidedCalls } from "./decided-calls.ts";
import { eventIdOf, type SpanEvent } from "./ids.ts";
import { serverAsked } from "./model-servers.ts";
import {
  BROKEN_OFF,
  type ParsedError,
  parseSpanError,
  reported,
  thrownIn,
  withThrown,
} from "./parse-span-error.ts";
import { noteAnswer } from "./run-content.ts";
import type { SdkSpan, SdkSpanError } from "./sdk.ts";
import { answerIn, failureIn, isBrokenOff, isIncomplete } from "./span-answer.ts";
import { modelInput, toolInput, toolOutput } from "./span-input.ts";
import { requestedModel, requestIn } from "./span-request.ts";
import { notBefore } from "./span-time.ts";
import {
  type AgentRun,
  isOwnModelCall,
  type OpenModel,
  type OpenSpan,
  type OpenTool,
  type SpanFailure,
  type TraceRecord,
} from "./trace-record.ts";

/** A call, with its run and its trace. */
interface CallScope<Open = OpenTool | OpenModel> {
  readonly trace: TraceRecord;
  readonly run: AgentRun;
  readonly open: Open;
}

type ToolScope = CallScope<OpenTool>;
type ModelScope = CallScope<OpenModel>;

/** The error of a tool call whose agent waits for an approval. */
const WAITS: ParsedError = { text: cutText(PAUSED), error: PAUSED, ofTool: false };
const FROM_TOOL: FailureSource = { origin: "tool" };
/** The SDK's text on a tool's span if it shows the error to the model and continues. */
const SHOWN_TO_MODEL = "Error running tool (non-fatal)";
/** Matches the error of a rejected call, and captures the call's ID. */
const REJECTED = /^Tool execution for (.+) was manually rejected by user\.$/s;

export interface CallSpanOptions extends ResultOptions, Pick<ModelCallOptions, "price"> {
  readonly approvals: Approvals;
}

/**
 * Follows calls of tools and models.
 *
 * The SDK adds data to a span just after its start. So a start is sent in a later microtask, or when something
 * happens below the call. A tool's start is held until the next task if its input is missing, because the call may be
 * rejected.
 */
export class CallSpans {
  readonly decided: DecidedCalls;
  readonly #need: ContentNeed;
  readonly #fence: Fence;
  readonly #options: CallSpanOptions;

  constructor(fence: Fence, options: CallSpanOptions) {
    this.#need = fence.sink.contentNeed;
    this.#fence = fence;
    this.#options = options;
    this.decided = new DecidedCalls(options.approvals, this.#need);
  }

  /** A call's span started. */
  opened({ trace, run, open }: CallScope): void {
    if (isOwnModelCall(open)) {
      this.decided.fromState(trace, run, open.span.spanId, open.startedAt);
      this.decided.unreadable(trace, run, open.span.spanId, open.startedAt);
      open.afterPause = run.resumed;
      run.modelError = undefined;
      run.failedCall = undefined;
      run.unread = false;
      run.hasAnswers = true;
      run.toolWaits = false;
      run.unasked = undefined;
      run.resumed = false;
    }
    // `queueMicrotask` would create an async resource for each call.
    void GIVEN_WAY.then(() => {
      if (open.startSent) return;
      this.#fence.contain(() => {
        const isClear = open.kind === "model" || (hasInput(open) && !hasTwin(run, open));
        if (isClear) this.sendStart({ trace, run, open });
        else setImmediate(() => this.#fence.contain(() => this.sendStart({ trace, run, open })));
      });
    });
  }

  /** Sends the start of a call, if it was not sent before. */
  sendStart({ trace, run, open }: CallScope): void {
    if (open.startSent) return;
    open.startSent = true;
    const { spanData } = open.span;
    if (open.kind === "model") {
      if (isOwnModelCall(open)) this.decided.fromRequest(trace, run, open);
      const input = modelInput(trace, run, open, this.#need);
      open.inputSent = input !== undefined;
      const request = requestIn(spanData);
      const call = modelCall(open, requestedModel(spanData));
      run.writer.modelStarted(call, request, { input }, undefined, on(open, "start"));
      return;
    }
    const name = toolName(open.span);
    if (open.outer === undefined) this.#begin({ trace, run, open }, name);
    const input = this.#need === "none" ? undefined : toolInput(spanData.input);
    const description = describedIn(run.tools, name);
    const started = toolCall(open);
    run.writer.toolStarted(started, input, description, undefined, on(open, "start"));
    if (started.key !== undefined) open.scope = { ...open.scope, callKey: started.key };
  }

  /** The call is one that the agent's model asked for. */
  #begin({ trace, run, open }: ToolScope, name: string): void {
    const call = askedCall(run, name, textOf(open.span.spanData.input));
    open.scope = { run, toolUseId: call?.id ?? open.span.spanId };
    trace.totals.toolCalls += 1;
    const isAwaited = run.resumed && call?.begun === false;
    if (isAwaited || this.#options.approvals.isApproved(trace, name, call?.id)) {
      const decision = this.#decision({ trace, run, open }, "");
      run.writer.toolApproved(toolCall(open), decision, undefined, on(open, "approved"));
    }
    if (call !== undefined) begins(run, call);
    else {
      run.unasked ??= [];
      run.unasked.push(name);
    }
  }

  /** @param waits whether the call ended because an agent below it waits for an approval. */
  toolEnded(scope: ToolScope, at: Instant, waits: boolean): void {
    const { run, open } = scope;
    const { error } = open.span;
    const rejected = error === null ? undefined : rejectedCall(error);
    if (error !== null && rejected !== undefined && !open.startSent) {
      open.startSent = true;
      open.scope = { run, toolUseId: rejected };
      for (const call of run.asked) if (call.id === rejected) begins(run, call);
      const reason = textOf(error.message) ?? "";
      const decision = this.#decision(scope, reason, "denied");
      run.writer.toolDenied(toolCall(open), reason, decision, undefined, on(open, "denied", at));
      return;
    }
    this.sendStart(scope);
    if (error === null) {
      if (waits) toolFailed(scope, at, { parsed: WAITS, source: FROM_TOOL });
      else this.#toolReturned(scope, at);
      return;
    }
    if (rejected !== undefined) {
      const text = textOf(error.message) ?? "";
      const parsed = { text, error: AgentError.cancelled(), ofTool: false };
      toolFailed(scope, at, { parsed, source: FROM_TOOL });
      return;
    }
    const failure = callFailure(scope, error);
    const isShown = error.message === SHOWN_TO_MODEL;
    const { spanData } = open.span;
    if (isShown && isUnfit(run, open.scope.toolUseId, error, spanData)) {
      const text = textOf(spanData.output) ?? null;
      run.writer.toolRefused(toolCall(open, at), "tool_input_invalid", text, on(open, "end", at));
      return;
    }
    if (!isShown && open.outer === undefined) run.failedCall = failure;
    toolFailed(scope, at, failure, isShown);
  }

  #decision(
    { trace, run, open }: ToolScope,
    reason: string,
    outcome: "approved" | "denied" = "approved",
  ): DecisionDetails {
    const tool = toolName(open.span);
    const { toolUseId } = open.scope;
    return this.#options.approvals.detailsOf(
      trace,
      run,
      { outcome, tool, toolUseId, reason },
      run.resumed,
    );
  }

  /** Ends calls that are open at the end of their run as cut off, because their tools did not fail. */
  cutOff(trace: TraceRecord, run: AgentRun, at: Instant, failure: SpanFailure | undefined): void {
    for (const open of trace.open.values()) {
      if (open.kind !== "tool" || open.scope.run !== run || open.isCut) continue;
      const scope = { trace, run, open };
      this.sendStart(scope);
      open.isCut = true;
      const error = cutBy(failure === undefined ? undefined : thrownIn(failure.parsed));
      const parsed = { text: cutText(error), error, ofTool: false, thrown: { value: error } };
      toolFailed(scope, notBefore(at, open.startedAt), { parsed, source: FROM_TOOL });
    }
  }

  #toolReturned({ run, open }: ToolScope, at: Instant): void {
    const output = toolOutput(open.span.spanData);
    const result = resultOf(open, output);
    const end = on(open, "end", at);
    run.writer.toolReturned(toolCall(open, at), result, output, this.#options, end);
  }

  /** A call that failed may have used tokens, too. */
  #modelFailed({ open, run, trace }: ModelScope, at: Instant, parsed: ParsedError): void {
    const { spanData } = open.span;
    const { model, provider, responseId, responseModel, usage } = answerIn(spanData, false);
    const call = modelCall(open, model, at);
    const by = provider ?? requestIn(spanData).provider;
    const answered = { provider: by, responseId, responseModel, usage };
    const asked = { model: call.model, provider: by };
    const cost = countUse(asked, answered, trace.totals, this.#options);
    usageSeen(open, usage);
    const server = serverAsked(spanData);
    const failure = { ...reported({ parsed, source: FROM_MODEL }), ...answered, cost, server };
    run.writer.modelFailed(call, failure, on(open, "end", at));
  }

  modelEnded(scope: ModelScope, at: Instant): void {
    const { trace, run, open } = scope;
    this.sendStart(scope);
    if (isOwnModelCall(open)) {
      this.decided.fromRequest(trace, run, open);
      this.decided.missing(trace, run, open.span.spanId, open.startedAt);
    }
    const { error, spanData } = open.span;
    const isRefused = error !== null && isIncomplete(spanData);
    if ((error !== null && !isRefused) || isBrokenOff(spanData)) {
      const parsed = error === null ? BROKEN_OFF : parseSpanError(error);
      if (isOwnModelCall(open)) run.modelError = parsed;
      this.#modelFailed(scope, at, parsed);
      return;
    }
    const failure = failureIn(spanData);
    if (failure !== undefined) {
      // The run continues, because the SDK does not treat this as a failure.
      this.#modelFailed(scope, at, { text: failure, error: undefined, ofTool: false });
      return;
    }
    const answer = answerIn(spanData, this.#need === "all");
    const { output } = answer;
    if (isOwnModelCall(open)) {
      // The SDK makes no call of an answer that it refuses.
      if (isRefused) run.modelError = parseSpanError(error);
      else asks(run, answer);
      if (output !== undefined) noteAnswer(trace, run, output);
    }
    trace.totals.requests += 1;
    const request = requestIn(spanData);
    const asked = { model: answer.model, provider: request.provider };
    const cost = countUse(asked, answer, trace.totals, this.#options);
    usageSeen(open, answer.usage);
    // Field by field: spreading the answer or the request is slower than the rest of this method.
    const sent = {
      provider: answer.provider,
      usage: answer.usage,
      responseModel: answer.responseModel,
      responseId: answer.responseId,
      finishReasons: answer.finishReasons,
      cost,
      request,
      content: {
        // The span of a complete (not streamed) response gets the input only at its end.
        input: open.inputSent ? undefined : modelInput(trace, run, open, this.#need),
        system_instructions: answer.instructions,
        tools: answer.tools,
      },
      output,
    };
    run.writer.modelAnswered(modelCall(open, answer.model, at), sent, on(open, "end", at));
  }
}

/** The usage of the turn's model call is known, so that of the turn is the same. */
function usageSeen(open: OpenModel, usage: ModelCallUsage | undefined): void {
  const { turns } = open.scope.run;
  if (turns !== undefined && usage !== undefined && isOwnModelCall(open)) turns.model = "counted";
}

const GIVEN_WAY = Promise.resolve();

const toolName = ({ spanData }: SdkSpan) => textOf(spanData.name) ?? "";

// The span's own times count, so the writer does not measure.

/** @param at its end. */
function toolCall(open: OpenTool, at = open.startedAt): ToolCall {
  const { outer, span } = open;
  const { callKey: key, toolUseId } = open.scope;
  const durationMs = millisecondsBetween(open.startedAt, at);
  return { toolUseId, key, tool: toolName(span), details: below(outer), startedMs: 0, durationMs };
}

/** @param at its end. */
function modelCall(open: OpenModel, model: string | undefined, at = open.startedAt): ModelCall {
  const details = below(open.scope.callKey ?? open.scope.toolUseId);
  const durationMs = millisecondsBetween(open.startedAt, at);
  return { modelCallId: open.span.spanId, model, details, startedMs: 0, durationMs };
}

/** Details of a call that the code of another call made. */
const below = (toolUseId: string | undefined) =>
  toolUseId === undefined ? undefined : { tool_use_id: toolUseId };

/** The event's ID is derived from the SDK's span, so that duplicates are recognised. */
function on({ span, startedAt }: OpenSpan, what: SpanEvent, at = startedAt): Stamp {
  return { eventId: eventIdOf(span.spanId, what), at };
}

/** @param isShown whether the SDK shows the failure to the model. The span may have that text. */
function toolFailed(
  { run, open }: ToolScope,
  at: Instant,
  failure: SpanFailure,
  isShown = false,
): void {
  const text = isShown ? (textOf(open.span.spanData.output) ?? null) : undefined;
  run.writer.toolFailed(toolCall(open, at), reported(failure), text, on(open, "end", at));
}

const hasInput = ({ span }: OpenSpan) => textOf(span.spanData.input) !== undefined;

/** The failure of a tool call. If a run below it failed with the same text, its source is used. */
function callFailure({ trace, run, open }: ToolScope, error: SdkSpanError): SpanFailure {
  const parsed = withThrown(parseSpanError(error), error, open.outcome);
  const { toolUseId } = open.scope;
  for (const { failure, parent, parentToolUseId } of trace.agents.values()) {
    if (parent !== run || parentToolUseId !== toolUseId || failure === undefined) continue;
    if (failure.parsed.text !== parsed.text) continue;
    const { source } = failure;
    // The SDK wraps the tool's error in its own, which has less data.
    if (parsed.thrown !== undefined && parsed.error !== undefined) return { parsed, source };
    const { error, thrown } = failure.parsed;
    return { parsed: { ...parsed, error, thrown }, source };
  }
  return { parsed, source: { origin: "tool", tool: toolName(open.span) } };
}

/** The result that `withSpan` saw, if the SDK used it unchanged, else the span's text. */
function resultOf({ outcome }: OpenSpan, output: unknown): unknown {
  if (outcome === undefined || !("value" in outcome)) return output;
  const { value } = outcome;
  if (output === undefined) return value;
  try {
    return JSON.stringify(value) === output ? value : output;
  } catch {
    return output;
  }
}

function rejectedCall({ data }: SdkSpanError): string | undefined {
  return REJECTED.exec(textOf(data?.error) ?? "")?.[1];
}
