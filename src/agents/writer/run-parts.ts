import {
  AgentError,
  type ErrorEnvelope,
  type EventDetails,
  type FailureKind,
  type FailureSource,
  type Instant,
  type ModelCallUsage,
  type ModelOperation,
  type ModelParameters,
  type NotMade,
  sourceMoment,
} from "../../events/door.ts";

/** The envelope fields of a run's subject. All events of the run share this frozen object. */
export interface SubjectFields {
  readonly session_id?: string | undefined;
  readonly details?: Pick<EventDetails, "user_id" | "tags" | "metadata"> | undefined;
}

/** The identity of a run: the fields that all its events have. */
export interface RunRef {
  readonly runId: string;
  readonly rootRunId: string;
  readonly tenantId: string;
  readonly threadId?: string | undefined;
  readonly subject?: SubjectFields | undefined;
  /** Like the next fields, for runs whose every event names their parent. Others name it in {@link Beginning}. */
  readonly parentToolUseId?: string | null | undefined;
  readonly resumedFromRunId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** ID and time of an event, if its source gives them. */
export interface Stamp {
  /** Same for every call of the same callback. Default: a new one. */
  readonly eventId?: string | undefined;
  /** When it happened. Default: now. */
  readonly at?: Readonly<Instant> | undefined;
  /** Whether the event is sent after that time. */
  readonly isLate?: boolean | undefined;
}

/** A new ID, and now. */
export const NOW: Stamp = { eventId: undefined, at: undefined, isLate: undefined };

/** Data of a run's start. */
export interface Beginning {
  readonly agent: string;
  readonly parentRunId?: string | undefined;
  /** `null`: known to have none. `undefined`: not known. */
  readonly parentToolUseId?: string | null | undefined;
  /** The key of that call, if it has one. */
  readonly parentCallKey?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** The trace context of a trusted caller in another process. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Content. */
  readonly asked?: unknown;
  readonly details?: EventDetails | undefined;
}

/** Fields that calls and steps share. */
export interface Timed {
  /** From `performance.now()`. Not read if `durationMs` is given. */
  readonly startedMs: number;
  /** Duration in ms as the framework measured it. Default: the time since `startedMs`. */
  readonly durationMs?: number | undefined;
  /** Sent with the start, and with the end in its state at that time. */
  readonly details?: EventDetails | undefined;
}

/** A tool call. */
export interface ToolCall extends Timed {
  readonly toolUseId: string;
  readonly tool: string;
  readonly version?: string | undefined;
  /** Set by the writer, if another call of its ID is open. */
  key?: string | undefined;
}

/** Data of a tool call that was not made. */
export interface UnmadeCall {
  readonly code: NotMade;
  /** Content. */
  readonly input: unknown;
  /** Content: the text that the model received. `null`: not known. */
  readonly text: string | null;
  readonly description?: string | undefined;
  readonly stepId?: string | undefined;
}

/** A named part of a run, such as a workflow step. */
export interface Step extends Timed {
  readonly stepId: string;
  readonly step: string;
  /** Default: an ordinary step. */
  readonly kind?: "step" | "retrieval" | undefined;
}

/** A model call. */
export interface ModelCall extends Timed {
  readonly modelCallId: string;
  readonly model: string | undefined;
  /** Who was asked. A failure names this provider unless another one answered. */
  readonly provider?: string | undefined;
  /** Default `chat`. */
  readonly operation?: ModelOperation | undefined;
  /** Number of requests to the provider, with retries. Default: not known. */
  readonly attempts?: number;
}

/** Data of a model request, without its messages. */
export interface ModelRequest {
  readonly provider?: string;
  readonly server_address?: string;
  readonly server_port?: number;
  readonly parameters?: ModelParameters;
}

/** Content of a model request. */
export type RequestContent = Readonly<
  Partial<Record<"input" | "system_instructions" | "tools", unknown>>
>;

/** What a model call used, and who answered it, as far as known. */
export interface ModelUse {
  /** Who answered, if the request names another provider: after a fallback, or through a gateway. */
  readonly provider?: string | undefined;
  readonly usage?: ModelCallUsage | undefined;
  /** US dollars as decimal text. */
  readonly cost?: string | undefined;
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
}

/** What a model answered. */
export interface ModelAnswer extends ModelUse {
  readonly firstOutputMs?: number | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  /** Fields of the request that were not known at the start. */
  readonly request?: ModelRequest | undefined;
  /** Content of the request that was not known at the start. */
  readonly content?: RequestContent | undefined;
  /** Content. */
  readonly output?: unknown;
}

/** Why a run or call failed. */
export interface Failure {
  readonly thrown: unknown;
  /** The innermost call that threw the error. */
  readonly source: FailureSource;
  /** The operator's text, for an error whose own text may quote content. */
  readonly text?: string | undefined;
  /** The error whose class and stack are sent. Default: `thrown`. */
  readonly shown?: unknown;
  /** Default: made of `thrown`, as `kind`. */
  readonly envelope?: ErrorEnvelope | undefined;
  readonly kind?: FailureKind | undefined;
  readonly details?: EventDetails | undefined;
}

/** The text that the model received for a failed tool call. `undefined`: our own text. `null`: not known. */
export type ModelText = string | null | undefined;

/** Start time of a call that begins now. */
export function startedNow(): { readonly startedMs: number; readonly since: number } {
  return { startedMs: performance.now(), since: sourceMoment() };
}

/** Ends calls that are open when their run completes. One shared object, because most runs leave no call open. */
export const LEFT_OPEN: AgentError = AgentError.cancelled();

/** Ends calls and steps that paused their run, or were open when it paused. It names neither question nor payload. */
export const PAUSED: AgentError = AgentError.interrupted({ type: "custom" });
