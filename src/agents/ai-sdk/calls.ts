import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AgentError,
  FROM_RUN,
  handed,
  outputMessages,
  readsRows,
  sourceMoment,
} from "../../events/door.ts";
import {
  type AdapterCounts,
  type AskedTenant,
  askedTenant,
  type BegunRun,
  beginRun,
  embeddedTexts,
  type Fields,
  fieldsOf,
  type KnownPause,
  LEFT_OPEN,
  listOf,
  PAUSED,
  Pauses,
  placeIn,
  RunWriter,
  type SafeSink,
  sendDecision,
  textOf,
  threadOf,
  UsageTotals,
  waitedMs,
} from "../core/door.ts";
import { type ActiveRun, abortError, activeRun, cutBy, isStop } from "../runtime/door.ts";
import {
  type ApprovalRequest,
  type ApprovalResponse,
  answeredIn,
  askedOf,
  automaticIn,
  outputsIn,
  waitingIn,
} from "./approvals.ts";
import type { CallState, OpenTool } from "./call-state.ts";
import { closed, opened } from "./channel.ts";
import { EMBEDDINGS, EmbeddingCalls } from "./embeddings.ts";
import { failureOf, operatorTextOf, unreportedError } from "./errors.ts";
import { answerIn, ModelCalls } from "./model-calls.ts";
import {
  type AiSdkCall,
  type AiSdkCounts,
  type AiSdkTelemetryOptions,
  DEFAULT_CALLS,
} from "./options.ts";
import { reportedAs, sendHeld, ToolCalls } from "./tool-calls.ts";

/** A tenant function that reads `runtimeContext` gets nothing then. */
const NO_CONTEXT =
  "`runtimeContext` has only the fields that the call's `telemetry.includeRuntimeContext` names (AI SDK 6: `metadata`)";

/** Operations of the SDK that are runs. */
export const RUNS: ReadonlySet<unknown> = new Set([
  "ai.generateText",
  "ai.streamText",
  "ai.generateObject",
  "ai.streamObject",
]);

/** Data of a call's start. */
interface CallStart {
  readonly event: Fields;
  readonly callId: string;
  readonly call: AiSdkCall;
  readonly outer: ActiveRun | undefined;
  readonly answers: readonly ApprovalResponse[];
  readonly asked: AskedTenant;
}

interface CallName {
  readonly callId?: unknown;
}

/**
 * The signal of the response that the running code makes. One for the process: on Node 20, each storage makes every
 * promise of the process dearer, and none is ever collected.
 */
export const responding = new AsyncLocalStorage<AbortSignal>();

/** Follows calls of the AI SDK. Each call is a run, except for embeddings inside a run. */
export class Calls {
  readonly embeddings: EmbeddingCalls;
  readonly models: ModelCalls;
  readonly tools: ToolCalls;
  readonly #options: AiSdkTelemetryOptions;
  readonly #sink: SafeSink;
  readonly #onError: (error: unknown) => void;
  readonly #paused: Pauses;
  readonly #calls = new Map<string, CallState>();
  /** IDs of calls that wait for the store of paused runs. */
  readonly #resuming = new Set<string>();
  readonly #maxCalls: number;
  #otherOperations = 0;
  #refused = 0;
  #forgotten = 0;
  #duplicates = 0;

  constructor(options: AiSdkTelemetryOptions, sink: SafeSink, onError: (error: unknown) => void) {
    const { contentNeed } = sink;
    this.#options = options;
    this.#sink = sink;
    this.#onError = onError;
    this.#maxCalls = options.maxCalls ?? DEFAULT_CALLS;
    this.#paused = new Pauses({
      sink: options.sink,
      framework: "ai-sdk",
      store: options.pausedRuns,
      // The SDK makes the IDs of approval requests.
      sharesKeys: false,
      onError,
    });
    const ofModels = { contentNeed, price: options.price, onError };
    this.embeddings = new EmbeddingCalls(ofModels);
    this.models = new ModelCalls(ofModels);
    this.tools = new ToolCalls({ contentNeed, isFailure: options.isFailure, onError });
  }

  get counts(): Omit<AiSdkCounts, keyof AdapterCounts> {
    return {
      otherOperations: this.#otherOperations,
      refused: this.#refused,
      forgotten: this.#forgotten,
      duplicates: this.#duplicates,
    };
  }

  /** Resolves when the store has the paused runs. Never rejects. */
  settled(): Promise<void> {
    return this.#paused.settled();
  }

  /** The call that an event belongs to. */
  of(event: CallName): CallState | undefined {
    return this.#calls.get(textOf(event.callId) ?? "");
  }

  /** @returns a promise if the store of paused runs must be read first. */
  start(event: Fields): void | Promise<void> {
    const operationId = textOf(event.operationId);
    const callId = textOf(event.callId);
    // Integrations of the AI SDK 6 get other events.
    if (operationId === undefined) return;
    const isFollowed = RUNS.has(operationId) || EMBEDDINGS.has(operationId);
    if (!isFollowed || callId === undefined) {
      this.#otherOperations += 1;
      return;
    }
    if (this.#calls.has(callId) || this.#resuming.has(callId)) {
      this.#duplicates += 1;
      return;
    }
    const runtimeContext = fieldsOf(event.runtimeContext) ?? {};
    const call = { operationId, functionId: textOf(event.functionId), runtimeContext };
    const outer = activeRun();
    const advice = Object.keys(runtimeContext).length === 0 ? NO_CONTEXT : "";
    const asked: AskedTenant = outer ?? askedTenant(this.#options.tenant, call, advice);
    const answers = answeredIn(event.messages);
    const start = { event, callId, call, outer, answers, asked };
    if (answers.length === 0) this.#begin(start, undefined);
    else return this.#resume(start);
  }

  async #resume(start: CallStart): Promise<void> {
    const { answers, asked, callId } = start;
    this.#resuming.add(callId);
    let paused: KnownPause | undefined;
    for (const { approvalId } of answers)
      paused ??= await this.#paused.find(approvalId, asked.tenantId);
    this.#resuming.delete(callId);
    this.#begin(start, paused);
  }

  #begin(start: CallStart, paused: KnownPause | undefined): void {
    const { answers, asked, call, callId, event, outer } = start;
    const tenantId = asked.tenantId ?? paused?.tenantId;
    if (tenantId === undefined) {
      this.#refused += 1;
      this.#onError(asked.problem);
      return;
    }
    const state = this.#stateOf(start, tenantId, paused);
    this.#calls.set(callId, state);
    if (this.#calls.size > this.#maxCalls) this.#forgetOldest();
    if (state.isPart) {
      state.leave = outer?.whileOpen?.((error) => this.#close({ callId }, state, error));
      return;
    }
    if (state.sdk === 7) opened(callId, state);
    const given = event.messages ?? event.prompt ?? event.value;
    const isAsked = readsRows(this.#sink.contentNeed) && !isEmpty(given);
    state.writer.started({
      agent: call.functionId ?? call.operationId.slice("ai.".length),
      ...placeIn(outer),
      resumedFromRunId: paused?.runId,
      asked: isAsked ? questionIn(state, given) : undefined,
    });
    for (const answer of answers) this.#decided(state, answer, "user", waitedMs(paused));
  }

  #decided(state: CallState, response: ApprovalResponse, by: "user" | "policy", waitMs?: number) {
    sendDecision(state.writer, response, {
      by,
      waitMs,
      decidedBy: this.#options.decidedBy,
      metadata: state.runtimeContext,
      onError: this.#onError,
    });
  }

  #stateOf(
    { answers, call, event, outer }: CallStart,
    tenantId: string,
    paused: KnownPause | undefined,
  ): CallState {
    const { context, thread } = this.#options;
    const signal = responding.getStore();
    const totals = this.#totalsOf(outer?.runId);
    const around = EMBEDDINGS.has(call.operationId) ? outer : undefined;
    const origin = {
      tenantId,
      threadId: threadOf(thread, call, this.#onError),
      outer,
      paused,
      ask: context === undefined || outer !== undefined ? undefined : () => context(handed(call)),
      totals,
    };
    return {
      ...(around === undefined
        ? beginRun<OpenTool>(origin, this.#sink, this.#onError)
        : partOf(around, this.#sink, totals)),
      operationId: call.operationId,
      runtimeContext: call.runtimeContext,
      tools: event.tools,
      offered: undefined,
      approved: answers.filter(({ approved }) => approved),
      toolChoice: event.toolChoice,
      sdk: event.sdk === 6 ? 6 : 7,
      isHidden: event.recordInputs === false || event.recordOutputs === false,
      model: undefined,
      lastReason: undefined,
      modelError: undefined,
      toolErrors: new Set(),
      held: [],
      signals: new Set(signal === undefined ? [] : [signal]),
      reported: new Set(),
      embeddings: new Map(),
      isPart: around !== undefined,
      leave: undefined,
    };
  }

  /** Calls of the SDK inside each other share their totals. */
  #totalsOf(outerId: string | undefined): UsageTotals | undefined {
    if (outerId === undefined) return undefined;
    for (const { active, totals } of this.#calls.values()) {
      if (active.runId === outerId) return totals;
    }
    return undefined;
  }

  /**
   * A request starts. The first one shows approved calls that the SDK did not make after all: their input does not fit,
   * or a rule denied them.
   *
   * @param messages returns those of the request.
   */
  requested(state: CallState, messages: () => unknown): void {
    sendHeld(state);
    const { approved, reported } = state;
    if (approved.length === 0) return;
    state.approved = [];
    const outputs = outputsIn(messages());
    for (const { approvalId, input, tool, toolUseId } of approved) {
      const output = outputs.get(toolUseId);
      const call = { toolCallId: toolUseId, toolName: tool, input };
      if (output === undefined || reported.has(reportedAs(call))) continue;
      if (output.type === "error-text") this.tools.notMade(state, call, textOf(output.value) ?? "");
      if (output.type !== "execution-denied") continue;
      const reason = textOf(output.reason) ?? "";
      const denial = { approvalId, toolUseId, tool, input, approved: false, reason };
      this.#decided(state, denial, "policy");
    }
  }

  /** A step has ended. Its content shows decisions and refused calls that no callback reports. */
  stepEnded(state: CallState, event: Fields): void {
    this.models.stepEnded(state, event);
    this.tools.refusedIn(state, event.content);
    for (const response of automaticIn(event.content)) this.#decided(state, response, "policy");
  }

  ended(state: CallState, event: Fields): void {
    const last = fieldsOf(event.finalStep) ?? fieldsOf(listOf(event.steps)?.at(-1)) ?? event;
    const waiting = waitingIn(last.content);
    if (waiting.length > 0) {
      this.#pause(event, state, waiting);
      return;
    }
    if (state.sdk === 7) this.models.objectEnded(state, event);
    // A stream that fails at a later step still ends with the data of the earlier steps. A finish reason `error`
    // without an error is an answer of the model.
    const ofModel = event.finishReason === "error" ? state.modelError : undefined;
    const isFailed = ofModel !== undefined || state.model?.error !== undefined;
    const shown = event.error ?? unreportedError(state, event);
    if (isFailed || shown !== undefined) {
      this.failed(event, state, shown);
      return;
    }
    this.#close(event, state, LEFT_OPEN);
    if (state.isPart) return;
    state.writer.completed({ output: this.#answerOf(state, event, last) });
  }

  #answerOf(state: CallState, event: Fields, last: Fields): unknown {
    if (this.#sink.contentNeed !== "all") return undefined;
    if (event.object === undefined) return answerIn(state, last, textOf(event.finishReason));
    return outputMessages(event.object, ["stop"]);
  }

  #pause(event: CallName, state: CallState, waiting: readonly ApprovalRequest[]): void {
    this.#close(event, state, PAUSED);
    const { runId, subject, tenantId, threadId } = state.active;
    const paused = { runId, tenantId, at: Date.now(), threadId, subject };
    for (const { approvalId } of waiting) this.#paused.add(approvalId, paused);
    state.writer.interrupted(
      { type: "approval_pending", tool_use_id: waiting[0]?.toolUseId ?? "" },
      waiting.map(({ tool, toolUseId }) => ({ tool_use_id: toolUseId, tool })),
      this.#sink.contentNeed === "all" ? askedOf(waiting) : undefined,
    );
  }

  failed(event: CallName, state: CallState, shown: unknown): void {
    this.embeddings.threw(state, shown);
    const failure = failureOf(state, shown);
    // The SDK gives errors of tools to the model. If one ends the call, a signal fired and the tool threw its reason.
    if (isStop(failure.thrown, state.signals) || state.toolErrors.has(failure.thrown)) {
      sendHeld(state, failure);
      this.aborted(event, state, failure.thrown);
      return;
    }
    this.#close(event, state, cutBy(failure.thrown), failure.thrown);
    if (!state.isPart) state.writer.failed(failure);
  }

  /** The call was aborted, or the reader of its stream left. */
  aborted(event: CallName, state: CallState, reason: unknown): void {
    const thrown = abortError(reason);
    this.#close(event, state, thrown, thrown);
    if (state.isPart) return;
    state.writer.failed({ thrown, source: FROM_RUN, text: operatorTextOf(thrown, state) });
  }

  #close(event: CallName, state: CallState, cut: AgentError, thrown: unknown = cut): void {
    this.#remove(textOf(event.callId) ?? "");
    sendHeld(state);
    state.writer.cutTools(cut);
    this.models.ended(state, thrown);
    this.embeddings.failed(state, thrown);
  }

  #forgetOldest(): void {
    for (const [oldest, state] of this.#calls) {
      sendHeld(state);
      this.#remove(oldest);
      this.#forgotten += 1;
      return;
    }
  }

  #remove(callId: string): void {
    const state = this.#calls.get(callId);
    state?.leave?.();
    if (state?.sdk === 7) closed(callId);
    this.#calls.delete(callId);
  }
}

/** A part of the run around it. The adapter of that run also sends events. */
function partOf(around: ActiveRun, sink: SafeSink, totals = new UsageTotals()): BegunRun<OpenTool> {
  const writer = new RunWriter<void, OpenTool>(sink, around, { others: true });
  return { writer, active: around, totals, since: sourceMoment() };
}

function questionIn({ operationId, writer }: CallState, given: unknown): unknown {
  if (EMBEDDINGS.has(operationId)) return embeddedTexts(given);
  return writer.conversation.messages(given);
}

function isEmpty(given: unknown): boolean {
  return given === undefined || given === null || given === "" || listOf(given)?.length === 0;
}
