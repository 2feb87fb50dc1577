import type { InterruptionKind } from "../errors/agent-error-detail.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "../errors/error-kinds.ts";
import type { UsageSnapshot } from "../events/agent-event.ts";
import type { Instant } from "../events/instant.ts";
import type { Call } from "./call.ts";
import type { Run } from "./run.ts";

/**
 * What else a source says of a run or a call, by attribute name. The lifecycle passes it on unread;
 * the driver knows the names.
 */
export type Facts = Readonly<Record<string, FactValue | undefined>>;

export type FactValue = string | number | boolean | readonly string[];

/** What a run used, as far as its source says. */
export type RunUsage = Partial<UsageSnapshot>;

/**
 * How a run's segment ended.
 *
 * `content` is payload (state, interrupt payload): a driver shows it only where content is captured.
 */
export type RunEnd = RunEndKind & { readonly facts?: Facts | undefined };

/** How a run ended, if nothing more is heard of it. */
export interface SupposedEnd {
  readonly end: RunEnd;
  /** Whatever of the run comes after the age limit only trails: it opens no segment. */
  readonly over?: boolean | undefined;
  /** Its open model call had answered, then, and ended so, if nothing more is told of that. */
  readonly model?: { readonly at: Instant; readonly facts?: Facts | undefined } | undefined;
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

/** How a call ended, where it did not simply complete. */
export type CallProblem =
  | {
      readonly outcome: "error";
      /** Absent where the source does not class its errors. */
      readonly kind?: ToolErrorKind | undefined;
      readonly message: string;
      readonly envelope?: ErrorEnvelope | undefined;
    }
  | { readonly outcome: "interrupted"; readonly message?: string | undefined };

/** How a call's span ended. */
export type CallEnd = CallEndKind & { readonly facts?: Facts | undefined };

type CallEndKind =
  | { readonly outcome: "complete"; readonly content: unknown }
  | CallProblem
  | { readonly outcome: "denied"; readonly content: unknown }
  | { readonly outcome: "unfinished" };

/** What is known of a model call when it starts. */
export interface ModelOpening {
  readonly model?: string | undefined;
  /** The input. */
  readonly content?: unknown;
  readonly facts?: Facts | undefined;
}

/** Why a model call gave no answer. */
export interface ModelProblem {
  /** Low in number: what alerts may split on. Default `_OTHER`. */
  readonly type?: string | undefined;
  readonly message: string;
  /** In place of `type`, where the source classes its errors as it classes the failures of runs. */
  readonly kind?: FailureKind | undefined;
  readonly envelope?: ErrorEnvelope | undefined;
}

/** How a model call's span ended. */
export type ModelEnd = (
  | {
      readonly outcome: "complete";
      readonly content?: unknown;
      /** What was asked, where only the end says so. */
      readonly asked?: unknown;
    }
  | { readonly outcome: "error"; readonly problem: ModelProblem }
  /** It raised a pause, or was called off by one: no failure. */
  | { readonly outcome: "interrupted"; readonly message?: string | undefined }
  | { readonly outcome: "unfinished" }
) & {
  /** The model that was asked for, where only the end says so. */
  readonly model?: string | undefined;
  readonly facts?: Facts | undefined;
};

/** Why one span points to another that is not its parent. */
export type LinkKind =
  | "ambient"
  | "late_parent"
  | "parent_of_other_tenant"
  | "previous_segment"
  | "resumed_from"
  | "after_interrupted";

export interface Link<H> {
  readonly kind: LinkKind;
  readonly to: H;
}

/** What a source says about a run's place beside its parent run. */
export interface RunPlace {
  readonly threadId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** Tool-use id of the parent's call that dispatched this run; `null` where it is known that none did. */
  readonly parentCallId?: string | null | undefined;
}

/**
 * What is known about a run's place beside its `parent_run_id`.
 *
 * @typeParam H the driver's handle of a span.
 */
export interface StartContext<H> extends RunPlace {
  readonly rootRunId?: string | undefined;
  /**
   * Span id that a `traceparent` names: it tells calls of the parent apart that share an id, and a call
   * from the run itself.
   */
  readonly namedSpanId?: string | undefined;
  /** The span that was active when the run started: linked, when the run becomes a root. */
  readonly ambient?: H | undefined;
  /** The call whose context was active when the run started, if it is one of ours. */
  readonly ambientCall?: { readonly run: Run<H>; readonly call: Call<H> } | undefined;
  /**
   * The parent from outside (a `traceparent`, an operator's resolver, the ambient span where it is
   * to be the parent). Asked only when no parent run is known.
   */
  readonly outerParent?: (() => OuterParent<H> | undefined) | undefined;
}

export interface OuterParent<H> {
  readonly handle: H;
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * Where the event that is being taken places its run. Asked only when a run opens, so that an event
 * of a run that is open costs nothing here.
 */
export interface EventPlace<H> {
  startContext(): StartContext<H> | undefined;
}
