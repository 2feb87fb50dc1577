import type { UsageSnapshot } from "../agent-event.ts";
import type { InterruptionKind } from "../errors/agent-error-detail.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "../errors/error-kinds.ts";
import type { ExceptionDetails } from "../errors/exception-of.ts";
import type { DecisionDetails } from "../event-details.ts";
import type { Instant } from "../instant.ts";

/** Which run a signal is about, and when it happened. */
export interface SignalSubject {
  readonly tenantId: string;
  readonly runId: string;
  readonly at: Instant;
}

/**
 * What a dialect reads out of an event, as plain data: all that the lifecycle is told. One event may
 * make several signals; they are applied in their order.
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
      /** Id of the parent's call that dispatched this run. */
      readonly parentCallId?: string | undefined;
      readonly resumedFromRunId?: string | undefined;
      /** The parent's step that it belongs to. */
      readonly inStepId?: string | undefined;
      /** The event's envelope says thread, dispatching call and resumed run, and this signal does not. */
      readonly originInEnvelope?: boolean | undefined;
      /** What the run was asked. */
      readonly asked?: unknown;
      readonly attributes?: SpanAttributes | undefined;
    }
  | {
      readonly signal: "run_closes";
      readonly end: RunEnd;
      /** No event says so: it is the end that the run may have had. One that was given up has it already. */
      readonly supposed?: boolean | undefined;
    }
  /** If no activity of the run follows, it ended so, at this time. */
  | ({ readonly signal: "run_may_end" } & SupposedEnd)
  | {
      readonly signal: "call_opens";
      readonly callId: string;
      readonly name: string;
      readonly version?: string | undefined;
      /** The input. */
      readonly content?: unknown;
      /** The step of the run that it belongs to. */
      readonly inStepId?: string | undefined;
      /** The open call of the run that made it. */
      readonly inCallId?: string | undefined;
      readonly attributes?: SpanAttributes | undefined;
    }
  | {
      readonly signal: "call_closes";
      readonly callId: string;
      readonly name: string;
      readonly version?: string | undefined;
      /** As the source measured it, in ms; 0 where it does not say: the start of a call not seen to start. */
      readonly durationMs: number;
      readonly end: CallResult;
      /** Of a call not seen to start: the step that it belongs to. */
      readonly inStepId?: string | undefined;
      /** Likewise: the call that made it. */
      readonly inCallId?: string | undefined;
    }
  /** Somebody is asked about a call: its run waits for that until the call is decided about, starts or ends. */
  | { readonly signal: "call_asked"; readonly callId: string; readonly name: string }
  /** The open call of this id, else the next one, was allowed. */
  | {
      readonly signal: "call_approved";
      readonly callId: string;
      readonly name: string;
      /** How long the approver took, in ms. */
      readonly waitMs?: number | undefined;
      /** The source decides before a call starts: the open call of this id is another one. */
      readonly beforeStart?: boolean | undefined;
      /** What else is known of the decision; not kept. */
      readonly decision?: DecisionDetails | undefined;
    }
  /** The open call of this id was refused; where none is open, one that never started. */
  | {
      readonly signal: "call_denied";
      readonly callId: string;
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
      /** Unique within the run. Of calls without an id a run has at most one that is open. */
      readonly modelCallId?: string | undefined;
      /** The step of the run that it belongs to. */
      readonly inStepId?: string | undefined;
    } & ModelOpening)
  /** The open model call of this id ended; `at` may lie before the time of the event that says so. */
  | {
      readonly signal: "model_closes";
      readonly modelCallId?: string | undefined;
      /**
       * As the source measured it, in ms: the start of a call not seen to start. Absent where only an
       * open call can end.
       */
      readonly durationMs?: number | undefined;
      readonly end: ModelEnd;
      /** Of a call not seen to start: the step that it belongs to. */
      readonly inStepId?: string | undefined;
    }
  /** A part of the run begins that is neither a call nor a run. */
  | ({
      readonly signal: "step_opens";
      /** Unique within the run, and not empty. */
      readonly stepId: string;
    } & StepOpening)
  | ({
      readonly signal: "step_closes";
      readonly stepId: string;
      /** As the source measured it, in ms: the start of a step not seen to start. */
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
  /** More is known of the open run. */
  | { readonly signal: "attributes"; readonly attributes: SpanAttributes }
  /** The run is active, and no more is known: one that is over stays so. */
  | {
      readonly signal: "activity";
      /** By an event of a type that is not known, which is counted. */
      readonly unknownType?: boolean | undefined;
    }
  /** An event of a run that is over, as its source's reader knows: it changes nothing but this count. */
  | { readonly signal: "late"; readonly reason: LateReason };

/** Why an event came too late for its run. */
export type LateReason = "second_terminal" | "after_end";

export type SpanEventTarget = "run" | "model" | { readonly callId: string };

/** What is known of a model call when it starts. */
export interface ModelOpening {
  readonly model?: string | undefined;
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
 * What else a source says of a run or a call, by attribute name. The lifecycle passes it on unread;
 * the driver knows the names.
 */
export type SpanAttributes = Readonly<Record<string, SpanAttributeValue | undefined>>;

export type SpanAttributeValue = string | number | boolean | readonly string[];

/** What a run used, as far as its source says. */
export type RunUsage = Partial<UsageSnapshot>;

/**
 * How a run's segment ended.
 *
 * `content` is payload (state, interrupt payload): a driver shows it only where content is captured.
 */
export type RunEnd = RunEndKind & {
  /** What the run was asked, where only the end says so. */
  readonly asked?: unknown;
  /** What it answered, or what it asks where it paused. */
  readonly answer?: unknown;
  readonly attributes?: SpanAttributes | undefined;
};

/** How a run ended, if no activity of it follows. */
export interface SupposedEnd {
  readonly end: RunEnd;
  /** Whatever of the run comes after the age limit only trails: it opens no segment. */
  readonly over?: boolean | undefined;
  /** Its open model call had answered, then, and ended so, if nothing more is told of that. */
  readonly model?:
    | { readonly at: Instant; readonly attributes?: SpanAttributes | undefined }
    | undefined;
}

type RunEndKind =
  | {
      readonly outcome: "complete";
      readonly usage?: RunUsage | undefined;
      readonly content?: unknown;
    }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly message: string;
      /** Absent where the source has none. */
      readonly envelope?: ErrorEnvelope | undefined;
      readonly exception?: ExceptionDetails | undefined;
    }
  /** The model declined. It is no failure, and no answer either. */
  | {
      readonly outcome: "refused";
      readonly usage?: RunUsage | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly outcome: "interrupted";
      /** Absent where the source does not say (entelix 0.5.x). */
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
  /** Another run of its stream began, where there can be only one. */
  | "superseded";

/** How a call ended that was run. */
export type CallResult = (
  | { readonly outcome: "complete"; readonly content: unknown }
  | {
      readonly outcome: "error";
      /** Absent where the source does not class its errors. */
      readonly kind?: ToolErrorKind | undefined;
      readonly message: string;
      readonly envelope?: ErrorEnvelope | undefined;
      readonly exception?: ExceptionDetails | undefined;
      /** Content: the text that the model received; `null` where it is not known. */
      readonly modelText?: string | null | undefined;
    }
  | { readonly outcome: "interrupted"; readonly message?: string | undefined }
  /** Somebody called it off, or its run ended first: no failure of the tool. */
  | {
      readonly outcome: "cancelled";
      readonly message: string;
      readonly envelope: ErrorEnvelope;
    }
) & { readonly attributes?: SpanAttributes | undefined };

/** How a call's span ended. */
export type CallEnd =
  | CallResult
  | {
      readonly outcome: "denied";
      readonly content: unknown;
      readonly attributes?: SpanAttributes | undefined;
      readonly decision?: DecisionDetails | undefined;
    }
  | { readonly outcome: "unfinished"; readonly attributes?: undefined };

/** How a step's span ended. */
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
    /** It paused its run: no failure. */
    | { readonly outcome: "interrupted"; readonly message?: string | undefined }
    /** Somebody called it off: no failure of the step. */
    | {
        readonly outcome: "cancelled";
        readonly message: string;
        readonly envelope: ErrorEnvelope;
      }
    | { readonly outcome: "unfinished" }
  ) & { readonly attributes?: SpanAttributes | undefined };

/** Why a model call gave no answer. */
export interface ModelProblem {
  /** Low in number: what alerts may split on. Default `_OTHER`. */
  readonly type?: string | undefined;
  readonly message: string;
  /** In place of `type`, where the source classes its errors as it classes the failures of runs. */
  readonly kind?: FailureKind | undefined;
  readonly envelope?: ErrorEnvelope | undefined;
  readonly exception?: ExceptionDetails | undefined;
}

/** How a model call's span ended. */
export type ModelEnd = (
  | {
      readonly outcome: "complete";
      readonly content?: unknown;
      /** What was asked, where only the end says so. */
      readonly asked?: unknown;
      readonly context?: ModelContext | undefined;
    }
  | { readonly outcome: "error"; readonly problem: ModelProblem }
  /** It raised a pause, or was called off by one: no failure. */
  | { readonly outcome: "interrupted"; readonly message?: string | undefined }
  | { readonly outcome: "unfinished" }
) & {
  /** The model that was asked for, where only the end says so. */
  readonly model?: string | undefined;
  readonly attributes?: SpanAttributes | undefined;
};

/** The kinds of steps that the conventions know. */
export type StepKind = "step" | "retrieval";

/** The fields of a step that starts. */
export interface StepOpening {
  readonly name: string;
  readonly kind?: StepKind | undefined;
  /** The input. */
  readonly content?: unknown;
  /** The call of its run that it stands in. */
  readonly inCallId?: string | undefined;
  /** The step of its run that it stands in. */
  readonly inStepId?: string | undefined;
}
