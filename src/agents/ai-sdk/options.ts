import { checkFunction, checkWhole, type InnerSink, type IsFailure } from "../../events/door.ts";
import {
  checkCommonOptions,
  checkPausedRuns,
  type DecidedBy,
  type PausedRuns,
} from "../core/door.ts";
import type { Price, RunSubject } from "../runtime/door.ts";

/** A call of the AI SDK, as the hooks of {@link AiSdkTelemetryOptions} get it. */
export interface AiSdkCall {
  /** `ai.generateText`, `ai.streamText`, `ai.generateObject` or `ai.streamObject`. */
  readonly operationId: string;
  /** The call's `telemetry.functionId`. AI SDK 6: `experimental_telemetry.functionId`. */
  readonly functionId: string | undefined;
  /**
   * The fields of the call's `runtimeContext` that its `telemetry.includeRuntimeContext` names. AI SDK 6:
   * `experimental_telemetry.metadata`.
   */
  readonly runtimeContext: Readonly<Record<string, unknown>>;
}

/** Options of {@link AiSdkTelemetry}. */
export interface AiSdkTelemetryOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A function is called once for each outermost call. If it throws or returns anything but a
   * non-empty text, no event of that call is sent (`counts.refused`). A call inside a run has the tenant of that run.
   *
   * @example
   * tenant: ({ runtimeContext }) => String(runtimeContext.tenantId)
   */
  readonly tenant: string | ((call: AiSdkCall) => string);
  /**
   * The conversation of a call (`gen_ai.conversation.id`). Default: the conversation of the surrounding run, if any.
   */
  readonly thread?: ((call: AiSdkCall) => string | undefined) | undefined;
  /**
   * The subject of a call's run: personal data, so only the result of this function is sent. Called once for each
   * outermost call. If it throws or returns an invalid subject, `onError` is called. Default: the subject of the
   * surrounding run, if any.
   */
  readonly context?: ((call: AiSdkCall) => RunSubject | undefined) | undefined;
  /**
   * Decides which tool results are failures. A failure is sent as `tool_error` with the wire code
   * `tool_result_error`, and the run continues. Default: results of MCP tools with `isError: true`.
   */
  readonly isFailure?: IsFailure | undefined;
  /** Returns the price of a model call that reported its usage, in US dollars. Default: the cost is not known. */
  readonly price?: Price | undefined;
  /**
   * Names the person who answered an approval request. It gets the `runtimeContext` (AI SDK 6: `metadata`) of the
   * call that has the answer. Default: no person is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Stores paused runs by the IDs of their approval requests, so that a resumed run is linked to them, and has their
   * tenant, thread and subject unless the other options give others. Default: at least the last 10,000 in memory, one
   * store for each sink.
   */
  readonly pausedRuns?: PausedRuns | undefined;
  /**
   * Maximum number of open calls of the AI SDK. Above it, the oldest is forgotten (`counts.forgotten`). Default
   * 10,000.
   */
  readonly maxCalls?: number | undefined;
  /** Called with errors of the sink and of the adapter. Both are also counted. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Counts of callbacks that were not sent as events. */
export interface AiSdkCounts {
  /** Calls that are not runs: embeddings, reranking, speech, images and others. */
  readonly otherOperations: number;
  /** Calls without a known tenant. */
  readonly refused: number;
  /** Calls that were forgotten because of `maxCalls`. */
  readonly forgotten: number;
  /** Repeated starts of a call: the telemetry is registered twice. */
  readonly duplicates: number;
  /** Events that the sink refused. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. */
  readonly faults: number;
}

export const DEFAULT_CALLS = 10_000;

/**
 * @throws TypeError when an option has the wrong type.
 * @throws RangeError when a limit is out of range.
 */
export function checkAiSdkOptions(options: AiSdkTelemetryOptions): void {
  checkCommonOptions(options);
  checkFunction(options.thread, "thread");
  checkPausedRuns(options.pausedRuns);
  checkWhole(options.maxCalls ?? DEFAULT_CALLS, "maxCalls", 1);
}
