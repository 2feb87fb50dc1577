import { checkEach, checkFunction, type OptionChecks, wholeFrom } from "../../events/door.ts";
import {
  ADAPTER_CHECKS,
  type AdapterCounts,
  type AdapterOptions,
  checkPausedRuns,
  type PausedRuns,
} from "../core/door.ts";

/** A call of the AI SDK, as the hooks of {@link AiSdkTelemetryOptions} get it. */
export interface AiSdkCall {
  /**
   * `ai.generateText`, `ai.streamText`, `ai.generateObject` or `ai.streamObject`; outside any run also `ai.embed` and
   * `ai.embedMany`.
   */
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
export interface AiSdkTelemetryOptions extends AdapterOptions<AiSdkCall> {
  /**
   * The conversation of a call (`gen_ai.conversation.id`). Default: the conversation of the surrounding run, if any.
   */
  readonly thread?: ((call: AiSdkCall) => string | undefined) | undefined;
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
}

/** Counts of callbacks that were not sent as events. */
export interface AiSdkCounts extends AdapterCounts {
  /** Calls that are neither runs nor embeddings: reranking, speech, images and others. */
  readonly otherOperations: number;
  /** Calls without a known tenant. */
  readonly refused: number;
  /** Calls that were forgotten because of `maxCalls`. */
  readonly forgotten: number;
  /** Repeated starts of a call: the telemetry is registered twice. */
  readonly duplicates: number;
}

export const DEFAULT_CALLS = 10_000;

/** @throws TypeError or RangeError when an option is invalid. */
export function checkAiSdkOptions(options: AiSdkTelemetryOptions): AiSdkTelemetryOptions {
  return checkEach(options, CHECKS);
}

const CHECKS: OptionChecks<AiSdkTelemetryOptions> = {
  ...ADAPTER_CHECKS,
  thread: checkFunction,
  pausedRuns: checkPausedRuns,
  maxCalls: wholeFrom(1),
};
