import { v7 as uuidv7 } from "uuid";
import {
  type AgentError,
  type AnswerForm,
  answerOf,
  callHook,
  FROM_RUN,
  handed,
  type InnerSink,
  outputMessages,
  readsRows,
  sourceMoment,
  toMessages,
} from "../../events/door.ts";
import {
  askedSubject,
  type Fields,
  fieldsOf,
  LEFT_OPEN,
  listOf,
  RunWriter,
  type SafeSink,
  sendDecision,
  tenantOf,
  textOf,
  threadOf,
  UsageTotals,
} from "../core/door.ts";
import { abortError, activeRun, cutBy } from "../runtime/door.ts";
import {
  type ApprovalRequest,
  type ApprovalResponse,
  answeredIn,
  automaticIn,
  RecentPausedRuns,
  waitingIn,
} from "./approvals.ts";
import type { CallState } from "./call-state.ts";
import { failureOf, operatorTextOf } from "./errors.ts";
import { answerIn, ModelCalls } from "./model-calls.ts";
import {
  type AiSdkCall,
  type AiSdkCounts,
  type AiSdkTelemetryOptions,
  DEFAULT_CALLS,
  type PausedRun,
  type PausedRuns,
} from "./options.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Operations of the SDK that are runs. */
export const RUNS: ReadonlySet<unknown> = new Set([
  "ai.generateText",
  "ai.streamText",
  "ai.generateObject",
  "ai.streamObject",
]);

/** The default stores of paused runs, one for each sink. */
const pausedBySink = new WeakMap<InnerSink, PausedRuns>();

interface CallName {
  readonly callId?: unknown;
}

/** Follows calls of the AI SDK. Each call is a run. */
export class Calls {
  readonly models: ModelCalls;
  readonly tools: ToolCalls;
  readonly #options: AiSdkTelemetryOptions;
  readonly #sink: SafeSink;
  readonly #onError: (error: unknown) => void;
  readonly #paused: PausedRuns;
  readonly #calls = new Map<string, CallState>();
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
    this.#paused = options.pausedRuns ?? pausedBySink.get(options.sink) ?? new RecentPausedRuns();
    if (options.pausedRuns === undefined) pausedBySink.set(options.sink, this.#paused);
    this.models = new ModelCalls({ contentNeed, price: options.price, onError });
    this.tools = new ToolCalls({ contentNeed, isFailure: options.isFailure, onError });
  }

  get counts(): Omit<AiSdkCounts, "sinkFailures" | "faults"> {
    return {
      otherOperations: this.#otherOperations,
      refused: this.#refused,
      forgotten: this.#forgotten,
      duplicates: this.#duplicates,
    };
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
    if (!RUNS.has(operationId) || callId === undefined) {
      this.#otherOperations += 1;
      return;
    }
    if (this.#calls.has(callId)) {
      this.#duplicates += 1;
      return;
    }
    const state = this.#open(event, operationId);
    if (state === undefined) return;
    this.#calls.set(callId, state);
    if (this.#calls.size > this.#maxCalls) this.#forgetOldest();
    const answers = answeredIn(event.messages);
    if (answers.length === 0) return this.#begin(state, event, undefined, answers);
    return this.#resume(state, event, answers);
  }

  async #resume(
    state: CallState,
    event: Fields,
    answers: readonly ApprovalResponse[],
  ): Promise<void> {
    let paused: PausedRun | undefined;
    for (const { approvalId } of answers) paused ??= await this.#pausedFor(approvalId, state);
    this.#begin(state, event, paused, answers);
  }

  /** Ignores a run of another tenant, because links must not cross tenants. */
  async #pausedFor(approvalId: string, { active }: CallState): Promise<PausedRun | undefined> {
    try {
      const given: unknown = await this.#paused.get(approvalId);
      const found = answerOf(PAUSED, () => given, this.#onError);
      return found?.tenantId === active.tenantId ? found : undefined;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #begin(
    state: CallState,
    event: Fields,
    paused: PausedRun | undefined,
    answers: readonly ApprovalResponse[],
  ): void {
    const outer = activeRun();
    const isInside = !state.isRoot;
    const isAsked = readsRows(this.#sink.contentNeed);
    const given = event.messages ?? event.prompt;
    const asked = isAsked && !isEmpty(given) ? toMessages(given) : undefined;
    state.writer.started({
      agent: textOf(event.functionId) ?? state.operationId.slice("ai.".length),
      parentRunId: isInside ? outer?.runId : undefined,
      parentToolUseId: isInside ? (outer?.toolUseId ?? null) : undefined,
      parentStepId: isInside ? outer?.stepId : undefined,
      resumedFromRunId: paused?.runId,
      asked,
    });
    const waitMs = paused === undefined ? undefined : Math.max(0, Date.now() - paused.at);
    for (const answer of answers) this.#decided(state, answer, "user", waitMs);
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

  /** @returns `undefined` if the tenant is not known. */
  #open(event: Fields, operationId: string): CallState | undefined {
    const outer = activeRun();
    const runtimeContext = fieldsOf(event.runtimeContext) ?? {};
    const call: AiSdkCall = { operationId, functionId: textOf(event.functionId), runtimeContext };
    const tenantId = outer?.tenantId ?? this.#tenantOf(call);
    if (tenantId === undefined) return undefined;
    const runId = uuidv7();
    const { context, sink, thread } = this.#options;
    const ask =
      context === undefined || outer !== undefined ? undefined : () => context(handed(call));
    const ref = {
      runId,
      tenantId,
      rootRunId: outer?.rootRunId ?? runId,
      threadId: threadOf(thread, call, this.#onError) ?? outer?.threadId,
      subject: askedSubject(ask, outer?.subject, this.#onError),
    };
    return {
      operationId,
      writer: new RunWriter(this.#sink, ref),
      active: { ...ref, sink },
      isRoot: outer === undefined,
      totals: this.#totalsOf(outer?.runId),
      since: sourceMoment(),
      runtimeContext,
      tools: event.tools,
      toolChoice: event.toolChoice,
      sdk: event.sdk === 6 ? 6 : 7,
      isHidden: event.recordInputs === false || event.recordOutputs === false,
      model: undefined,
      modelError: undefined,
      openTools: new Map(),
      reported: new Set(),
    };
  }

  /** Calls of the SDK inside each other share their totals. */
  #totalsOf(outerId: string | undefined): UsageTotals {
    if (outerId === undefined) return new UsageTotals();
    for (const { active, totals } of this.#calls.values()) {
      if (active.runId === outerId) return totals;
    }
    return new UsageTotals();
  }

  #tenantOf(call: AiSdkCall): string | undefined {
    return tenantOf(this.#options.tenant, call, (error) => {
      this.#refused += 1;
      this.#onError(error);
    });
  }

  /** A step has ended. Its content shows decisions and refused calls that no callback reports. */
  stepEnded(state: CallState, event: Fields): void {
    if (state.model !== undefined)
      this.models.failed(state, new Error("the model's stream ended without an answer"));
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
    // A stream that fails at a later step still ends with the data of the earlier steps.
    const isFailed = event.finishReason === "error" || state.model?.error !== undefined;
    if (isFailed || (event.error !== undefined && event.error !== null)) {
      this.failed(event, state, event.error ?? undefined);
      return;
    }
    this.#close(event, state, LEFT_OPEN);
    state.writer.completed(this.#usageOf(state), { output: this.#answerOf(event, last) });
  }

  #answerOf(event: Fields, last: Fields): unknown {
    if (this.#sink.contentNeed !== "all") return undefined;
    if (event.object === undefined) return answerIn(last, textOf(event.finishReason));
    return outputMessages(event.object, ["stop"]);
  }

  #pause(event: CallName, state: CallState, waiting: readonly ApprovalRequest[]): void {
    this.#close(event, state, LEFT_OPEN);
    const { runId, tenantId } = state.active;
    for (const { approvalId } of waiting) {
      this.#remember(approvalId, { runId, tenantId, at: Date.now() });
    }
    state.writer.interrupted(
      { type: "approval_pending", tool_use_id: waiting[0]?.toolUseId ?? "" },
      waiting.map(({ tool, toolUseId }) => ({ tool_use_id: toolUseId, tool })),
      this.#sink.contentNeed === "all" ? askedOf(waiting) : undefined,
    );
  }

  #remember(approvalId: string, run: PausedRun): void {
    callHook(() => this.#paused.set(approvalId, run), this.#onError);
  }

  failed(event: CallName, state: CallState, shown: unknown): void {
    const failure = failureOf(state, shown);
    this.#close(event, state, cutBy(failure.thrown), failure.thrown);
    state.writer.failed(failure);
  }

  /** The call was aborted, or the reader of its stream left. */
  aborted(event: CallName, state: CallState, reason: unknown): void {
    const thrown = abortError(reason);
    this.#close(event, state, thrown, thrown);
    state.writer.failed({ thrown, source: FROM_RUN, text: operatorTextOf(thrown, state) });
  }

  #close(event: CallName, state: CallState, cut: AgentError, thrown: unknown = cut): void {
    this.#calls.delete(textOf(event.callId) ?? "");
    this.tools.cutAll(state, cut);
    this.models.failed(state, thrown);
  }

  /** Only the root run reports usage. It includes the child runs. */
  #usageOf(state: CallState) {
    return state.isRoot ? state.totals.snapshot() : null;
  }

  #forgetOldest(): void {
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest);
      this.#forgotten += 1;
      return;
    }
  }
}

const PAUSED: AnswerForm<PausedRun> = {
  option: "pausedRuns.get",
  expected: "a paused run or nothing",
  read(given) {
    const fields = fieldsOf(given);
    const [runId, tenantId] = [textOf(fields?.runId), textOf(fields?.tenantId)];
    const at = fields?.at;
    if (runId === undefined || tenantId === undefined || typeof at !== "number") return undefined;
    return { runId, tenantId, at };
  },
};

function isEmpty(given: unknown): boolean {
  return given === undefined || given === null || given === "" || listOf(given)?.length === 0;
}

function askedOf(waiting: readonly ApprovalRequest[]): unknown {
  const calls = waiting.map(({ input, tool, toolUseId }) => ({
    type: "tool_call",
    id: toolUseId,
    name: tool,
    arguments: input,
  }));
  return outputMessages({ role: "assistant", content: calls }, ["tool_call"]);
}
