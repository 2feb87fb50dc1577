import { setTimeout as sleep } from "node:timers/promises";
import {
  checkEach,
  checkGivenFunction,
  type InnerSink,
  type IsFailure,
  isPromise,
  isSpanActivator,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import {
  ADAPTER_CHECKS,
  type AdapterOptions,
  contained,
  Fence,
  fieldIn,
  fieldsOf,
  textOf,
} from "../core/door.ts";
import { withCurrentRun } from "../runtime/door.ts";
import type { ProcessorCounts } from "./counts.ts";
import { type FindPosition, findBy, keepPosition, watchCode } from "./current-span.ts";
import { watchServers } from "./model-servers.ts";
import { type SdkSpan, type SdkTrace, UNNAMED_WORKFLOW } from "./sdk.ts";
import { TraceFollower } from "./trace-follower.ts";
import type { CodeOutcome } from "./trace-record.ts";

/** Marks a processor of any loaded copy of this package. */
export const OPENAI_AGENTS_PROCESSOR: unique symbol = Symbol.for(
  "entelix-otel.openai-agents-processor.v1",
);

/** Options of {@link OpenAIAgentsProcessor}. */
export interface OpenAIAgentsProcessorOptions extends AdapterOptions<SdkTrace> {
  /**
   * The tenant of the runs: a string, or a function that is called when a trace starts. The trace's
   * `metadata.tenant_id` takes precedence, and then the tenant of a surrounding run of `entelix-otel/runtime`.
   */
  readonly tenant: string | ((trace: SdkTrace) => string);
  /** Maximum number of remembered traces with open spans, and the same number of idle traces. Default 2,000. */
  readonly maxTraces?: number | undefined;
  /** How long `forceFlush` and `shutdown` wait for the sink, in ms. Default 5,000. */
  readonly flushTimeoutMs?: number | undefined;
  /**
   * Decides which tool results are failures. It gets the result in the trace, mostly a text. A failure is sent as
   * `tool_error` with the wire code `tool_result_error`. Default: results with `isError: true`. Of MCP servers the
   * SDK passes on only the content, without that field.
   */
  readonly isFailure?: IsFailure | undefined;
}

const CHECKS: OptionChecks<OpenAIAgentsProcessorOptions> = {
  ...ADAPTER_CHECKS,
  maxTraces: wholeFrom(1),
  flushTimeoutMs: wholeFrom(0),
};

/** The fields of the SDK's `getCurrentSpan()` that `withSpan` reads. */
export type SpanReference = Pick<SdkSpan, "spanId" | "traceId">;

/** The fields of the SDK's `RunResult` and `StreamedRunResult` that `noteResult` reads. */
export interface RunOutcome {
  /** Whether the reader of a stream left. */
  readonly cancelled?: boolean | undefined;
  readonly state: unknown;
}

/**
 * A trace processor for the OpenAI Agents SDK. It sends the runs, tool calls and model calls of agents to a sink. It
 * does not import the SDK, and its errors never reach the SDK.
 *
 * @throws TypeError from the constructor when `sink` or `tenant` is missing, or an option has the wrong type.
 * @throws RangeError from the constructor when a number is out of range.
 *
 * @example
 * import { addTraceProcessor } from "@openai/agents";
 *
 * const bridge = new Bridge();
 * addTraceProcessor(new OpenAIAgentsProcessor({ sink: bridge, tenant: "acme" }));
 */
export class OpenAIAgentsProcessor {
  readonly [OPENAI_AGENTS_PROCESSOR] = true;
  readonly #sink: InnerSink;
  readonly #fence: Fence;
  readonly #follower: TraceFollower;
  readonly #timeoutMs: number;
  /** The last shutdown, if no event came since. */
  #shutDown: Promise<void> | undefined;

  constructor(given: OpenAIAgentsProcessorOptions) {
    const options = checkEach(given, CHECKS);
    const { flushTimeoutMs = 5_000, onError, sink } = options;
    this.#sink = sink;
    this.#timeoutMs = flushTimeoutMs;
    this.#fence = new Fence(sink, onError);
    this.#follower = new TraceFollower(this.#fence, options);
    watchServers();
    if (isSpanActivator(sink)) watchCode();
  }

  /** Counts of spans without an event or without a run. */
  get counts(): ProcessorCounts {
    const { counts, forgottenTraces } = this.#follower;
    return { ...counts, forgottenTraces, ...this.#fence.counts };
  }

  onTraceStart(trace: SdkTrace): Promise<void> {
    return this.#contain(() => this.#follower.traceStarted(trace));
  }

  onTraceEnd(trace: SdkTrace): Promise<void> {
    return this.#contain(() => this.#follower.traceEnded(trace));
  }

  onSpanStart(span: SdkSpan): Promise<void> {
    return this.#contain(() => {
      findBy(span.spanData, this.#find);
      this.#follower.spanStarted(span);
    });
  }

  onSpanEnd(span: SdkSpan): Promise<void> {
    // Not as the processor's own code, which is in no span of the SDK.
    contained(() => keepPosition(span), this.#fence.report);
    return this.#contain(() => this.#follower.spanEnded(span));
  }

  /**
   * Runs code of a tool inside the span of its call. HTTP and database spans become its children, and runs that it
   * starts become child runs. The SDK's callbacks cannot do this. It also gets the original result or error of the
   * code: the SDK only keeps texts.
   *
   * @param span the result of the SDK's `getCurrentSpan()`. Without a span, `work` is called outside any span.
   * @returns what `work` returns.
   *
   * @example
   * execute: ({ order }) => processor.withSpan(getCurrentSpan(), () => refund(order)),
   */
  withSpan<T>(span: SpanReference | null | undefined, work: () => T): T {
    checkGivenFunction(work, "work");
    const there = this.#scopeOf(span);
    if (there === undefined) return work();
    const { open, run, scope } = there;
    const sink: unknown = this.#sink;
    const call = () =>
      watched(work, (outcome) => {
        if (open !== undefined) open.outcome = outcome;
      });
    return withCurrentRun(run, () => (isSpanActivator(sink) ? sink.withSpan(scope, call) : call()));
  }

  /**
   * Reports how a run ended where the SDK's trace does not show it: whether it waits for an approval. Call it as soon
   * as the run's promise resolves, for a stream its `completed`, and before `forceFlush`. In other cases, this does
   * nothing.
   *
   * @returns the result.
   *
   * @example
   * const result = processor.noteResult(await run(agent, state));
   */
  noteResult<T extends RunOutcome>(result: T): T {
    void this.#contain(() => {
      const { state } = result;
      const traceId = textOf(fieldIn(fieldIn(state, "_trace"), "traceId"));
      if (traceId !== undefined && typeof state === "object" && state !== null) {
        this.#follower.noted(traceId, state, result.cancelled === true);
      }
    });
    return result;
  }

  /**
   * Reports that this process resumes a run that was paused in another process. From version 0.14, the SDK's trace
   * does not show this, and new spans would get the IDs of the other process's spans. The state also shows which
   * tools are always approved. In other cases, this does nothing.
   *
   * @param state the result of `RunState.fromString`, before it is run.
   * @returns the state.
   *
   * @example
   * const state = processor.noteState(await RunState.fromString(agent, text));
   */
  noteState<T extends object>(state: T): T {
    void this.#contain(() => {
      const trace = fieldIn(state, "_trace");
      const traceId = textOf(fieldIn(trace, "traceId"));
      if (traceId === undefined) return;
      const known = {
        traceId,
        name: textOf(fieldIn(trace, "name")) ?? UNNAMED_WORKFLOW,
        groupId: textOf(fieldIn(trace, "groupId")) ?? null,
        metadata: fieldsOf(fieldIn(trace, "metadata")),
      };
      this.#follower.resumeHere(known, state);
    });
    return state;
  }

  /**
   * Resolves when the sink has accepted all events and was flushed, after `flushTimeoutMs` at the latest. Never
   * rejects.
   */
  async forceFlush(): Promise<void> {
    await this.#flush(this.#timeoutMs);
  }

  /**
   * Same as `forceFlush`, but returns the last flush if no event came since. The sink stays open, because others may
   * use it. The application must shut it down.
   *
   * @param timeout ms to wait. Default `flushTimeoutMs`.
   */
  async shutdown(timeout?: number): Promise<void> {
    // SDK 0.4 calls this whenever the event loop is empty. A new timer each time would keep the process alive.
    this.#shutDown ??= this.#flush(timeout ?? this.#timeoutMs);
    await this.#shutDown;
  }

  /** Errors in `work` are counted and do not reach the SDK. */
  #contain(work: () => void): Promise<void> {
    this.#shutDown = undefined;
    this.#fence.contain(work);
    return DONE;
  }

  #scopeOf(span: SpanReference | null | undefined) {
    if (span === null || span === undefined) return undefined;
    return this.#fence.contain(() => {
      const found = this.#follower.positionOf(span.traceId, span.spanId);
      const run = found?.scope.run;
      if (found === undefined || run === undefined) return undefined;
      const { open, scope } = found;
      const { callKey, toolUseId } = scope;
      const { runId: run_id, tenantId: tenant_id } = run.writer.run;
      const tool = open?.kind === "tool" ? textOf(open.span.spanData.name) : undefined;
      const model_call_id = open?.kind === "model" ? open.span.spanId : undefined;
      return {
        open,
        run: { ...run.writer.run, toolUseId, callKey, tool, sink: this.#sink },
        scope: { tenant_id, run_id, tool_use_id: callKey ?? toolUseId, model_call_id },
      };
    });
  }

  /** Where code of the SDK's span is. The processor's own code is not in a span of the SDK. */
  readonly #find: FindPosition = (span) => {
    const sink: unknown = this.#sink;
    if (this.#fence.isRunning || !isSpanActivator(sink)) return undefined;
    const scope = this.#scopeOf(span)?.scope;
    if (scope === undefined) return undefined;
    return { key: Object.values(scope).join(" "), within: (work) => sink.withSpan(scope, work) };
  };

  async #flush(timeoutMs: number): Promise<void> {
    const timer = new AbortController();
    const late = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(noValue);
    await Promise.race([this.#settled(), late]);
    timer.abort();
  }

  async #settled(): Promise<void> {
    // The SDK ends a streamed trace shortly after its result.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#fence.flush();
  }
}

/** The SDK awaits a promise after each callback. This one is reused. */
const DONE: Promise<void> = Promise.resolve();

function noValue(): void {}

/** Calls `work` and reports its outcome before the caller gets it. */
function watched<T>(work: () => T, report: (outcome: CodeOutcome) => void): T {
  let result: T;
  try {
    result = work();
  } catch (thrown) {
    report({ thrown });
    throw thrown;
  }
  if (isPromise(result)) {
    result.then(
      (value) => report({ value }),
      (thrown: unknown) => report({ thrown }),
    );
  } else report({ value: result });
  return result;
}
