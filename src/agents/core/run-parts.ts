import {
  AgentError,
  type EventDetails,
  type FailureSource,
  type ModelCallUsage,
  sourceMoment,
} from "../../events/door.ts";
import type { SubjectFields } from "../runtime/run-subject.ts";

/** A run as its events name it. */
export interface RunPlace {
  readonly runId: string;
  readonly rootRunId: string;
  readonly tenantId: string;
  readonly threadId?: string | undefined;
  readonly subject?: SubjectFields | undefined;
}

/** Where a run begins, and from what. */
export interface Beginning {
  readonly agent: string;
  readonly parentRunId?: string | undefined;
  /** `null` where it is known to be none. */
  readonly parentToolUseId?: string | null | undefined;
  readonly parentStepId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** The context of a caller in another process, that is trusted. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Content. */
  readonly asked?: unknown;
  readonly details?: EventDetails | undefined;
}

/** What every part of a run has. */
export interface Timed {
  /** From `performance.now()`. */
  readonly startedMs: number;
  /** As the framework measured it, in ms. Default: the time since the start. */
  readonly durationMs?: number | undefined;
  /** Sent with its start, and with its end as it is then. */
  readonly details?: EventDetails | undefined;
}

/** A tool call. */
export interface ToolCall extends Timed {
  readonly toolUseId: string;
  readonly tool: string;
}

/** A part of a run that is neither a call nor a run. */
export interface Step extends Timed {
  readonly stepId: string;
  readonly step: string;
}

/** A model call. */
export interface ModelCall extends Timed {
  readonly modelCallId: string;
  readonly model: string | undefined;
  /** How often the provider was asked, with all retries. Default: not known. */
  readonly attempts?: number;
}

/** What a model answered. */
export interface ModelAnswer {
  readonly usage?: ModelCallUsage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  /** As decimal text. */
  readonly cost?: string | undefined;
  /** Content: the request's messages, where they were not known at the start. */
  readonly input?: unknown;
  /** Content. */
  readonly output?: unknown;
}

/** Why a run or call failed. */
export interface Failure {
  readonly thrown: unknown;
  /** The innermost call that it came out of. */
  readonly source: FailureSource;
  /** The operator's text, where the error's own may quote content. */
  readonly text?: string | undefined;
  readonly details?: EventDetails | undefined;
}

/**
 * What the model received of a tool's failure. Default: our own text. `null`: that is not known.
 */
export type ModelText = string | null | undefined;

/** The fields of a call that is just being started. */
export function startedNow(): { readonly startedMs: number; readonly since: number } {
  return { startedMs: performance.now(), since: sourceMoment() };
}

/** What cuts off calls that are open when their run completes. Made once, since most runs leave none open. */
export const LEFT_OPEN: AgentError = AgentError.cancelled();
