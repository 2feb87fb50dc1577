import {
  checkFunction,
  checkHas,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkCommonOptions } from "../core/common-options.ts";
import type { DecidedBy } from "../core/decided-by.ts";
import type { Price } from "../runtime/price.ts";
import type { RunSubject } from "../runtime/run-subject.ts";

/** A call of the AI SDK, as the hooks of {@link AiSdkTelemetryOptions} see it. */
export interface AiSdkCall {
  /** `ai.generateText`, `ai.streamText`, `ai.generateObject` or `ai.streamObject`. */
  readonly operationId: string;
  /** As the call's `telemetry.functionId` says; in the AI SDK 6, its `experimental_telemetry.functionId`. */
  readonly functionId: string | undefined;
  /**
   * The fields of the call's `runtimeContext` that its `telemetry.includeRuntimeContext` names; in the AI SDK 6,
   * its `experimental_telemetry.metadata`.
   */
  readonly runtimeContext: Readonly<Record<string, unknown>>;
}

/** A run that waits for approvals. */
export interface PausedRun {
  readonly runId: string;
  readonly tenantId: string;
  /** When it paused, in ms since 1970. */
  readonly at: number;
}

/**
 * Where paused runs are kept until they are approved, by the IDs of their approval requests. A
 * `Map` of one process is one; a database makes resumptions in other processes known.
 */
export interface PausedRuns {
  get(approvalId: string): PausedRun | undefined | Promise<PausedRun | undefined>;
  set(approvalId: string, run: PausedRun): unknown;
}

/** Where the events go, and whose they are. */
export interface AiSdkTelemetryOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A function is called once for each outermost call. If it throws, or returns
   * anything but a text that is not empty, no event of that call is sent (`counts.refused`). A call inside
   * a run belongs to that run's tenant.
   *
   * @example
   * tenant: ({ runtimeContext }) => String(runtimeContext.tenantId)
   */
  readonly tenant: string | ((call: AiSdkCall) => string);
  /** The conversation of a call: `gen_ai.conversation.id`. Default: that of the run around it, else none. */
  readonly thread?: ((call: AiSdkCall) => string | undefined) | undefined;
  /**
   * Whose run a call is: personal data, so only what this returns is sent. Called once for each outermost
   * call. If it throws, or returns an invalid subject, `onError` is called. Default: nothing, or what the
   * run around the call says.
   */
  readonly context?: ((call: AiSdkCall) => RunSubject | undefined) | undefined;
  /**
   * Which results of tools are failures. Default: results of MCP tools with `isError: true`. The call is
   * then a `tool_error` with the wire code `tool_result_error`, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /** Gives the price of a model call that reported its usage, in US dollars. Default: the cost is not known. */
  readonly price?: Price | undefined;
  /**
   * Names the person who answered an approval request. It gets the `runtimeContext` (AI SDK 6: `metadata`) of
   * the call with the answer. Default: no person is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Where paused runs are kept, so that a resumed run is linked. Default: the last 10,000 in memory, one
   * store for each sink. What it throws goes to `onError`.
   */
  readonly pausedRuns?: PausedRuns | undefined;
  /** Most calls of the AI SDK that are followed at once. Above it, the oldest is forgotten. Default 10,000. */
  readonly maxCalls?: number | undefined;
  /** Called with errors of the sink and of the adapter. Default: not called; both are counted. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Counts of callbacks that were not sent as events. */
export interface AiSdkCounts {
  /** Embeddings, reranking, speech, images and so on: they are no runs. */
  readonly otherOperations: number;
  /** Calls without a known tenant. */
  readonly refused: number;
  /** Calls that were forgotten because of `maxCalls`. */
  readonly forgotten: number;
  /** Starts of calls that are known already: the telemetry is registered twice. */
  readonly duplicates: number;
  /** Events that the sink did not take. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. */
  readonly faults: number;
}

export const DEFAULT_CALLS = 10_000;

/** @throws TypeError for an option of another type, RangeError for a limit out of range. */
export function checkAiSdkOptions(options: AiSdkTelemetryOptions): void {
  checkCommonOptions(options);
  checkFunction(options.thread, "thread");
  checkHas(options.pausedRuns, "pausedRuns", "get");
  checkWhole(options.maxCalls ?? DEFAULT_CALLS, "maxCalls", 1);
}
