import type { UsageSnapshot } from "../agent-event.ts";
import type { InterruptionKind } from "../errors/agent-error-detail.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "../errors/error-kinds.ts";
import type { ExceptionDetails } from "../errors/exception-of.ts";
import type { DecisionDetails, RunOperation } from "../event-details.ts";
import type { Instant } from "../instant.ts";
import type { ModelOperation } from "../model-event.ts";

/** The run and the time of a signal. */
export interface SignalSubject {
  readonly tenantId: string;
  readonly runId: string;
  readonly at: Instant;
}

/**
 * The meaning of an event for the lifecycle, as plain data. A dialect makes one or several signals of an event, which
 * are applied in order.
 */
export type Signal = SignalSubject & SignalKind;

/** The signal of that name. */
export type SignalOf<K extends SignalKind["signal"]> = SignalSubject &
  Extract<SignalKind, { signal: K }>;

export type SignalKind =
  | {
      readonly signal: "run_opens";
      readonly agent?: string | undefined;
      readonly parentRunId?: string | undefined;
      readonly threadId?: string | undefined;
      /** ID of the parent's call that dispatched this run. */
      readonly parentCallId?: string | undefined;
      readonly resumedFromRunId?: string | undefined;
      /** The parent's step to which it belongs. */
      readonly inStepId?: string | undefined;
      /** The event's envelope, and not this signal, has thread, dispatching call and resumed run. */
      readonly originInEnvelope?: boolean | undefined;
      /** Default `invoke_agent`. */
      readonly operation?: RunOperation | undefined;
      /** The input of the run. */
      readonly asked?: unknown;
      readonly attributes?: SpanAttributes | undefined;
    }
  | {
      readonly signal: "run_closes";
      readonly end: RunEnd;
      /** The end is assumed, because no event reports it. It has no effect on a run that is not open. */
      readonly supposed?: boolean | undefined;
    }
  /** The run's end, at this time, if no activity of the run follows. */
  | ({ readonly signal: "run_may_end" } & SupposedEnd)
  | {
      readonly signal: "call_opens";
      readonly callId: string;
      readonly callKey?: string | undefined;
      readonly name: string;
      readonly version?: string | undefined;
      /** The input. */
      readonly content?: unknown;
      /** The step of the run to which it belongs. */
      readonly inStepId?: string | undefined;
      /** ID or key of the open call of the run that made it. */
      readonly inCallId?: string | undefined;
      readonly attributes?: SpanAttributes | undefined;
    }
  | {
      readonly signal: "call_closes";
      readonly callId: string;
      /** The key of its start. Without one, the oldest open call of its ID without a key ends. */
      readonly callKey?: string | undefined;
      readonly name: string;
      readonly version?: string | undefined;
      /** As measured by the source, in ms; 0 if unknown. It determines the start of a call whose start was not seen. */
      readonly durationMs: number;
      readonly end: CallResult;
      /** Only for a call whose start was not seen: the step to which it belongs. */
      readonly inStepId?: string | undefined;
      /** Only for a call whose start was not seen: the call that made it. */
      readonly inCallId?: string | undefined;
    }
  /** A call waits for a decision. Its run waits until the call is decided, starts or ends. */
  | {
      readonly signal: "call_asked";
      readonly callId: string;
      readonly callKey?: string | undefined;
      readonly name: string;
    }
  /** The open call with this ID, or else the next one, was allowed. */
  | {
      readonly signal: "call_approved";
      readonly callId: string;
      readonly callKey?: string | undefined;
      readonly name: string;
      /** How long the decision took, in ms. */
      readonly waitMs?: number | undefined;
      /** The source decides before a call starts. So an open call with this ID is a different one. */
      readonly beforeStart?: boolean | undefined;
      /** Further data of the decision. It is not kept. */
      readonly decision?: DecisionDetails | undefined;
    }
  /** The open call with this ID was denied, or, if none is open, one that never started. */
  | {
      readonly signal: "call_denied";
      readonly callId: string;
      readonly callKey?: string | undefined;
      readonly name: string;
      /** The reason. */
      readonly content?: unknown;
      readonly beforeStart?: boolean | undefined;
      readonly inStepId?: string | undefined;
      readonly attributes?: SpanAttributes | undefined;
      readonly decision?: DecisionDetails | undefined;
    }
  /** The model is called. */
  | ({
      readonly signal: "model_opens";
      /** Unique within the run. A run has at most one open call without an ID. */
      readonly modelCallId?: string | undefined;
      /** The step of the run to which it belongs. */
      readonly inStepId?: string | undefined;
      /** The open call of the run that made it. */
      readonly inCallId?: string | undefined;
    } & ModelOpening)
  /** The open model call with this ID ended. `at` may be before the time of the event. */
  | {
      readonly signal: "model_closes";
      readonly modelCallId?: string | undefined;
      /**
       * As measured by the source, in ms. It determines the start of a call whose start was not seen. Absent if only
       * an open call can end.
       */
      readonly durationMs?: number | undefined;
      readonly end: ModelEnd;
      /** Only for a call whose start was not seen: the step to which it belongs. */
      readonly inStepId?: string | undefined;
      /** Only for a call whose start was not seen: the call that made it. */
      readonly inCallId?: string | undefined;
    }
  /** A part of the run starts that is neither a call nor a run. */
  | ({
      readonly signal: "step_opens";
      /** Unique within the run, and not empty. */
      readonly stepId: string;
    } & StepOpening)
  | ({
      readonly signal: "step_closes";
      readonly stepId: string;
      /** As measured by the source, in ms. It determines the start of a step whose start was not seen. */
      readonly durationMs: number;
      readonly end: StepEnd;
    } & StepOpening)
  /** A point in the life of the run, of its open model call or of an open call. */
  | {
      readonly signal: "span_event";
      readonly name: string;
      readonly on?: SpanEventTarget | undefined;
      readonly attributes?: SpanAttributes | undefined;
    }
  /** Further attributes of the open run. */
  | { readonly signal: "attributes"; readonly attributes: SpanAttributes }
  /** The run is active. It has no effect on a run that is over. */
  | {
      readonly signal: "activity";
      /** The event has an unknown type, which is counted. */
      readonly unknownType?: boolean | undefined;
    }
  /** An event of a run that is over, according to the source's reader. It is only counted. */
  | { readonly signal: "late"; readonly reason: LateReason };

/** Why an event came too late for its run. */
export type LateReason = "second_terminal" | "after_end";

export type SpanEventTarget = "run" | "model" | { readonly callId: string };

/** Fields of a model call at its start. */
export interface ModelOpening {
  readonly model?: string | undefined;
  /** Default `chat`. */
  readonly operation?: ModelOperation | undefined;
  /** The input. */
  readonly content?: unknown;
  readonly context?: ModelContext | undefined;
  readonly attributes?: SpanAttributes | undefined;
}

/** Instructions and tools of a request. */
export interface ModelContext {
  readonly instructions?: unknown;
  readonly tools?: unknown;
}

/**
 * Further attributes of a run or a call, by name. The lifecycle passes them on unread; the driver knows the names.
 */
export type SpanAttributes = Readonly<Record<string, SpanAttributeValue | undefined>>;

export type SpanAttributeValue = string | number | boolean | readonly string[];

/** Usage of a run, as far as its source reports it. */
export type RunUsage = Partial<UsageSnapshot>;

/**
 * How a run's segment ended.
 *
 * `content` is payload (state, interrupt payload). A driver shows it only if content is captured.
 */
export type RunEnd = RunEndKind & {
  readonly usage?: RunUsage | undefined;
  /** The usage is that of this run alone, and its model calls report none. */
  readonly ownUsage?: boolean | undefined;
  /** The input of the run, if only the end has it. */
  readonly asked?: unknown;
  /** The run's answer, or its question if it paused. */
  readonly answer?: unknown;
  readonly attributes?: SpanAttributes | undefined;
};

/** How a run ended, if no activity of it follows. */
export interface SupposedEnd {
  readonly end: RunEnd;
  /** Later events do not open a new segment. */
  readonly over?: boolean | undefined;
  /** The open model call had answered at this time. It ends so, if nothing else reports its end. */
  readonly model?:
    | { readonly at: Instant; readonly attributes?: SpanAttributes | undefined }
    | undefined;
}

type RunEndKind =
  | { readonly outcome: "complete"; readonly content?: unknown }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly message: string;
      /** Absent if the source has none. */
      readonly envelope?: ErrorEnvelope | undefined;
      readonly exception?: ExceptionDetails | undefined;
    }
  /** The model refused to answer. This is neither a failure nor an answer. */
  | { readonly outcome: "refused"; readonly message?: string | undefined }
  | {
      readonly outcome: "interrupted";
      /** Absent if the source does not report it (entelix 0.5.x). */
      readonly kind?: InterruptionKind | undefined;
      readonly message?: string | undefined;
      readonly content?: unknown;
    }
  | { readonly outcome: "abandoned"; readonly reason: AbandonedReason };

/** Why a run was closed without a terminal event. */
export type AbandonedReason =
  | "age"
  | "limit"
  | "shutdown"
  | "end_of_input"
  | "audit_failed"
  /** Another run of its stream started, and a stream has only one at a time. */
  | "superseded";

/** The end of a call that ran. */
export type CallResult = (
  | { readonly outcome: "complete"; readonly content: unknown }
  | {
      readonly outcome: "error";
      /** Absent if the source does not classify its errors. */
      readonly kind?: ToolErrorKind | undefined;
      readonly message: string;
      readonly envelope?: ErrorEnvelope | undefined;
      readonly exception?: ExceptionDetails | undefined;
      /** Content: the text that the model received. `null` if unknown. */
      readonly modelText?: string | null | undefined;
    }
  | { readonly outcome: "interrupted"; readonly message?: string | undefined }
  /** It was cancelled, or its run ended first. It does not count as a failure of the tool. */
  | {
      readonly outcome: "cancelled";
      readonly message: string;
      readonly envelope: ErrorEnvelope;
    }
) & { readonly attributes?: SpanAttributes | undefined };

/** The end of a call's span. */
export type CallEnd =
  | CallResult
  | {
      readonly outcome: "denied";
      readonly content: unknown;
      readonly attributes?: SpanAttributes | undefined;
      readonly decision?: DecisionDetails | undefined;
    }
  | { readonly outcome: "unfinished"; readonly attributes?: undefined };

/** The end of a step's span. */
export type StepEnd =
  /** The content: the output. */
  (
    | { readonly outcome: "complete"; readonly content?: unknown }
    | {
        readonly outcome: "error";
        readonly message: string;
        readonly envelope: ErrorEnvelope;
        readonly exception?: ExceptionDetails | undefined;
      }
    /** It paused its run. Not a failure. */
    | { readonly outcome: "interrupted"; readonly message?: string | undefined }
    /** It was cancelled. Not a failure of the step. */
    | {
        readonly outcome: "cancelled";
        readonly message: string;
        readonly envelope: ErrorEnvelope;
      }
    | { readonly outcome: "unfinished" }
  ) & { readonly attributes?: SpanAttributes | undefined };

/** Why a model call has no answer. */
export interface ModelProblem {
  /** A value of low cardinality, which alerts may group by. Default `_OTHER`. */
  readonly type?: string | undefined;
  readonly message: string;
  /** Replaces `type`, if the source classifies its errors like the failures of runs. */
  readonly kind?: FailureKind | undefined;
  readonly envelope?: ErrorEnvelope | undefined;
  readonly exception?: ExceptionDetails | undefined;
}

/** The end of a model call's span. */
export type ModelEnd = (
  | {
      readonly outcome: "complete";
      readonly content?: unknown;
      /** The input, if only the end has it. */
      readonly asked?: unknown;
      readonly context?: ModelContext | undefined;
    }
  | { readonly outcome: "error"; readonly problem: ModelProblem }
  /** It raised a pause, or was cancelled by one. Not a failure. */
  | { readonly outcome: "interrupted"; readonly message?: string | undefined }
  | { readonly outcome: "unfinished" }
) & {
  /** The requested model, if only the end has it. */
  readonly model?: string | undefined;
  /** Only for a call whose start was not seen. */
  readonly operation?: ModelOperation | undefined;
  /** Whether it stands for an unknown number of calls. */
  readonly sumsCalls?: boolean | undefined;
  readonly attributes?: SpanAttributes | undefined;
};

/** The kinds of steps in the conventions. */
export type StepKind = "step" | "retrieval";

/** The fields of a step that starts. */
export interface StepOpening {
  readonly name: string;
  readonly kind?: StepKind | undefined;
  /** The input. */
  readonly content?: unknown;
  /** The call of its run to which it belongs. */
  readonly inCallId?: string | undefined;
  /** The step of its run to which it belongs. */
  readonly inStepId?: string | undefined;
}
