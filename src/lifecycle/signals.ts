import type { ErrorEnvelope } from "../events/error-envelope.ts";
import type { FailureKind } from "../events/failure-kind.ts";
import type { InterruptionKind } from "../events/interruption-kind.ts";
import type { ToolErrorKind } from "../events/tool-error-kind.ts";
import type { UsageSnapshot } from "../events/usage.ts";
import type { Call } from "./call.ts";
import type { Run } from "./run.ts";

/**
 * How a run's segment ended.
 *
 * `content` is payload (state, interrupt payload): a driver shows it only where content is captured.
 */
export type RunEnd =
  | {
      readonly outcome: "complete";
      readonly usage?: UsageSnapshot | undefined;
      readonly content?: unknown;
    }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly message: string;
      readonly envelope: ErrorEnvelope;
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
export type AbandonedReason = "age" | "limit" | "shutdown" | "end_of_input" | "audit_failed";

/** How a call ended, where it did not simply complete. */
export type CallProblem =
  | {
      readonly outcome: "error";
      readonly kind: ToolErrorKind;
      readonly message: string;
      readonly envelope: ErrorEnvelope;
    }
  | { readonly outcome: "interrupted"; readonly message: string };

/** How a call's span ended. */
export type CallEnd =
  | { readonly outcome: "complete"; readonly content: unknown }
  | CallProblem
  | { readonly outcome: "denied"; readonly content: unknown }
  | { readonly outcome: "unfinished" };

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

/**
 * What is known about a run's place beside its `parent_run_id`.
 *
 * @typeParam H the driver's handle of a span.
 */
export interface StartContext<H> {
  readonly threadId?: string | undefined;
  readonly rootRunId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** Tool-use id of the parent's call that dispatched this run. */
  readonly parentCallId?: string | undefined;
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
