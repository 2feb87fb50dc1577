import {
  AgentError,
  cutText,
  type DecisionDetails,
  type FailureSource,
  failureInResult,
  type Instant,
  type IsFailure,
} from "../../events/door.ts";
import { textOf } from "../core/narrow.ts";
import { cutBy } from "../runtime/calling-off.ts";
import { costOf, type Price } from "../runtime/price.ts";
import type { Approvals } from "./approvals.ts";
import type { CallEvents, CallScope } from "./call-span-events.ts";
import { type ParsedError, parseSpanError, thrownIn, withThrown } from "./parse-span-error.ts";
import type { SdkSpanData, SdkSpanError } from "./sdk.ts";
import {
  type AskedCall,
  answerIn,
  failureIn,
  isBrokenOff,
  type ModelAnswer,
  withoutHandoffs,
} from "./span-answer.ts";
import { requestIn } from "./span-request.ts";
import { notBefore } from "./span-time.ts";
import type { AgentRun, Failure, OpenSpan, TraceRecord } from "./trace-record.ts";

/** What upstream sends of a tool call that pauses. */
const WAITS: ParsedError = {
  text: "an agent that it runs waits for an approval",
  error: AgentError.interrupted({ type: "custom" }),
  ofTool: false,
};
/** The rest of the answer is not awaited: the run that asked for it was called off. */
const BROKEN_OFF: ParsedError = {
  text: "the stream was broken off",
  error: AgentError.cancelled(),
  ofTool: false,
};
const FROM_TOOL: FailureSource = { origin: "tool" };
/** What the SDK writes on a tool's span whose error it shows to the model, and goes on. */
const SHOWN_TO_MODEL = "Error running tool (non-fatal)";
/** On the span of a call that was not approved, the id of the call. */
const REJECTED = /^Tool execution for (.+) was manually rejected by user\.$/s;

export interface CallSpanOptions {
  readonly approvals: Approvals;
  readonly isFailure: IsFailure | undefined;
  readonly price: Price | undefined;
  /** Called with what is thrown in a start that is sent later. */
  readonly trouble: (error: unknown) => void;
}

/**
 * Calls of tools and models.
 *
 * The SDK fills a span in just after its start, so a start is sent a moment later: as soon as the
 * running code gives way, or when something happens below. A tool's start is held a little longer
 * while its input is not there, since the call may turn out to be denied.
 */
export class CallSpans {
  readonly #events: CallEvents;
  readonly #approvals: Approvals;
  readonly #trouble: (error: unknown) => void;
  readonly #isFailure: IsFailure | undefined;
  readonly #price: Price | undefined;

  constructor(events: CallEvents, { approvals, isFailure, price, trouble }: CallSpanOptions) {
    this.#events = events;
    this.#approvals = approvals;
    this.#trouble = trouble;
    this.#isFailure = isFailure;
    this.#price = price;
  }

  /** A call's span has started. */
  opened(trace: TraceRecord, run: AgentRun, open: OpenSpan): void {
    if (isOwnModelCall(open)) {
      run.modelError = undefined;
      run.failedCall = undefined;
      run.unread = false;
      run.toolWaits = false;
      run.unasked = undefined;
      run.resumed = false;
    }
    // A microtask: `queueMicrotask` would make an async resource for each.
    void GIVEN_WAY.then(() => {
      if (open.startSent) return;
      this.#contain(() => {
        const isClear = open.kind === "model" || (hasInput(open) && !hasTwin(run, open));
        if (isClear) this.sendStart({ trace, run, open });
        else setImmediate(() => this.#contain(() => this.sendStart({ trace, run, open })));
      });
    });
  }

  /** Sends the start of a call, unless it has been sent. */
  sendStart({ trace, run, open }: CallScope): void {
    if (open.startSent) return;
    open.startSent = true;
    if (open.kind === "model") {
      this.#events.modelStarted({ trace, run, open });
      return;
    }
    const name = textOf(open.span.spanData.name) ?? "";
    const call = askedCall(run, name, textOf(open.span.spanData.input));
    open.scope = { run, toolUseId: call?.id ?? open.span.spanId };
    trace.totals.toolCalls += 1;
    const isAwaited = run.resumed && call?.begun === false;
    if (isAwaited || this.#approvals.isAlways(trace, name)) {
      this.#events.toolApproved({ trace, run, open }, this.#decision({ trace, run, open }, ""));
    }
    if (call !== undefined) call.begun = true;
    else {
      run.unasked ??= [];
      run.unasked.push(name);
    }
    this.#events.toolStarted({ trace, run, open });
  }

  /** @param waits it ended because an agent that works for it waits for an approval. */
  toolEnded(scope: CallScope, at: Instant, waits: boolean): void {
    const { run, open } = scope;
    const { error } = open.span;
    const rejected = error === null ? undefined : rejectedCall(error);
    if (error !== null && rejected !== undefined && !open.startSent) {
      open.startSent = true;
      open.scope = { run, toolUseId: rejected };
      for (const call of run.asked) if (call.id === rejected) call.begun = true;
      const reason = textOf(error.message) ?? "";
      this.#events.toolDenied(scope, at, reason, this.#decision(scope, reason, "denied"));
      return;
    }
    this.sendStart(scope);
    if (error === null) {
      if (waits) this.#events.toolFailed(scope, at, { parsed: WAITS, source: FROM_TOOL });
      else this.#toolReturned(scope, at);
      return;
    }
    if (rejected !== undefined) {
      const text = textOf(error.message) ?? "";
      const parsed = { text, error: AgentError.cancelled(), ofTool: false };
      this.#events.toolFailed(scope, at, { parsed, source: FROM_TOOL });
      return;
    }
    const failure = callFailure(scope, error);
    const isShown = error.message === SHOWN_TO_MODEL;
    if (!isShown) run.failedCall = failure;
    this.#events.toolFailed(scope, at, failure, isShown);
  }

  #decision(
    { trace, run, open }: CallScope,
    reason: string,
    outcome: "approved" | "denied" = "approved",
  ): DecisionDetails {
    const tool = textOf(open.span.spanData.name) ?? "";
    const toolUseId = open.scope.toolUseId ?? open.span.spanId;
    return this.#approvals.detailsOf(trace, run, { outcome, tool, toolUseId, reason });
  }

  /** Calls of a run that are still open when it ends are cancelled: their tools did not fail. */
  cutOff(trace: TraceRecord, run: AgentRun, at: Instant, failure: Failure | undefined): void {
    for (const open of trace.open.values()) {
      if (open.kind !== "tool" || open.scope.run !== run || open.isCut) continue;
      const scope = { trace, run, open };
      this.sendStart(scope);
      open.isCut = true;
      const error = cutBy(failure === undefined ? undefined : thrownIn(failure.parsed));
      const parsed = { text: cutText(error), error, ofTool: false, thrown: { value: error } };
      this.#events.toolFailed(scope, notBefore(at, open.startedAt), { parsed, source: FROM_TOOL });
    }
  }

  #toolReturned(scope: CallScope, at: Instant): void {
    const { scope: place, span } = scope.open;
    const { name, output } = span.spanData;
    const call = { tool: textOf(name) ?? "", toolUseId: place.toolUseId ?? span.spanId };
    const result = resultOf(scope.open, output);
    const failure = failureInResult(result, call, this.#isFailure, this.#trouble);
    if (failure === undefined) this.#events.toolCompleted(scope, at);
    else this.#events.toolFailedWith(scope, at, failure);
  }

  modelEnded(scope: CallScope, at: Instant): void {
    const { trace, run, open } = scope;
    this.sendStart(scope);
    const { error, spanData } = open.span;
    if (error !== null || isBrokenOff(spanData)) {
      const parsed = error === null ? BROKEN_OFF : parseSpanError(error);
      if (isOwnModelCall(open)) run.modelError = parsed;
      this.#events.modelFailed(scope, at, parsed);
      return;
    }
    const failure = failureIn(spanData);
    if (failure !== undefined) {
      // The run goes on: the SDK did not take it for a failure.
      this.#events.modelFailed(scope, at, { text: failure, error: undefined, ofTool: false });
      return;
    }
    const answer = answerIn(spanData, this.#events.contentNeed === "all");
    if (isOwnModelCall(open)) asks(run, answer);
    trace.totals.requests += 1;
    const cost = this.#costOf(spanData, answer);
    trace.totals.add(answer.usage, cost);
    this.#events.modelAnswered(scope, at, answer, cost);
  }

  #costOf(data: SdkSpanData, answer: ModelAnswer): string | undefined {
    const { model, responseModel, usage } = answer;
    if (this.#price === undefined || usage === undefined) return undefined;
    const { provider } = requestIn(data);
    return costOf(this.#price, { provider, model, responseModel, usage }, this.#trouble);
  }

  /** Work that is done later is not awaited: what it throws would end the process. */
  #contain(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#trouble(error);
    }
  }
}

const GIVEN_WAY = Promise.resolve();

/** Whether the agent's model is asked. What code of a tool asks a model is the tool's own affair. */
export function isOwnModelCall({ kind, scope }: OpenSpan): boolean {
  return kind === "model" && scope.toolUseId === undefined;
}

function asks(run: AgentRun, { asked, tools }: ModelAnswer): void {
  run.tools = tools;
  run.unread = asked === undefined;
  run.asked = withoutHandoffs(asked ?? [], run.span?.spanData);
  // The end of a model call may come late, when tools that it asked for have begun.
  for (const name of run.unasked ?? []) {
    const call = run.asked.find(({ tool, begun }) => tool === name && !begun);
    if (call !== undefined) call.begun = true;
  }
}

const hasInput = ({ span }: OpenSpan) => textOf(span.spanData.input) !== undefined;

/** Whether, after a pause, another call is equal: which of them was denied follows from the denial. */
function hasTwin(run: AgentRun, { span }: OpenSpan): boolean {
  if (!run.resumed) return false;
  const { name, input } = span.spanData;
  const equal = run.asked.filter(
    (call) => !call.begun && call.tool === name && call.input === input,
  );
  return equal.length > 1;
}

/**
 * The call of the model's last answer that a tool's span is about. The span does not say; name and
 * arguments do. Where several could be meant, none is.
 */
function askedCall(run: AgentRun, name: string, input: string | undefined): AskedCall | undefined {
  let found: AskedCall | undefined;
  let again: AskedCall | undefined;
  for (const call of run.asked) {
    if (call.tool !== name) continue;
    if (input !== undefined && call.input !== undefined && call.input !== input) continue;
    if (call.begun) again ??= call;
    else if (found === undefined) found = call;
    else if (input === undefined) return undefined;
    else if (!hasParts(input, found) && hasParts(input, call)) found = call;
  }
  // After a pause, a call that had begun is made again: an agent used as a tool goes on.
  return found ?? (run.resumed ? again : undefined);
}

const hasParts = (input: string, { parts }: AskedCall) =>
  parts.every((part) => input.includes(part));

/**
 * What a tool call failed with, and where: a run below it that failed with the same text is further
 * inside.
 */

function callFailure({ trace, run, open }: CallScope, error: SdkSpanError): Failure {
  const parsed = withThrown(parseSpanError(error), error, open.came);
  const { toolUseId } = open.scope;
  for (const { failure, parent, parentToolUseId } of trace.agents.values()) {
    if (parent !== run || parentToolUseId !== toolUseId || failure === undefined) continue;
    if (failure.parsed.text !== parsed.text) continue;
    const { source } = failure;
    // The SDK's own error around that of a tool says less than that one did.
    if (parsed.thrown !== undefined && parsed.error !== undefined) return { parsed, source };
    const { error, thrown } = failure.parsed;
    return { parsed: { ...parsed, error, thrown }, source };
  }
  return { parsed, source: { origin: "tool", tool: textOf(open.span.spanData.name) ?? "" } };
}

/** The result itself, where `withSpan` saw it and the SDK took it as it was; else its text. */
function resultOf({ came }: OpenSpan, output: unknown): unknown {
  if (came === undefined || !("value" in came)) return output;
  const { value } = came;
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
