import type { Instant } from "../events/instant.ts";
import type { IgnoredReason } from "./counters.ts";
import type { CallProblem, Facts, ModelProblem, RunEnd, SupposedEnd } from "./signals.ts";

/** Which run a signal is about, and when it happened. */
export interface SignalPlace {
  readonly tenantId: string;
  readonly runId: string;
  readonly at: Instant;
}

/**
 * What a dialect reads out of an event, as plain data: the lifecycle's vocabulary for runtimes whose
 * events are not entelix's. One event may make several signals; they are applied in their order.
 */
export type Signal = SignalPlace & SignalKind;

export type SignalKind =
  | {
      readonly signal: "run_opens";
      readonly agent?: string | undefined;
      readonly parentRunId?: string | undefined;
      readonly threadId?: string | undefined;
      /** Id of the parent's call that dispatched this run. */
      readonly parentCallId?: string | undefined;
      readonly resumedFromRunId?: string | undefined;
      readonly facts?: Facts | undefined;
    }
  | {
      readonly signal: "run_closes";
      readonly end: RunEnd;
      /** No event says so: it is the end that the run may have had. One that was given up has it already. */
      readonly supposed?: boolean | undefined;
    }
  /** If nothing more is heard of the run, it ended so, at this time. */
  | ({ readonly signal: "run_may_end" } & SupposedEnd)
  | {
      readonly signal: "call_opens";
      readonly callId: string;
      readonly name: string;
      readonly version?: string | undefined;
      /** The input. */
      readonly content?: unknown;
      readonly facts?: Facts | undefined;
    }
  | {
      readonly signal: "call_closes";
      readonly callId: string;
      readonly name: string;
      /** As the source measured it, in ms; 0 where it does not say. */
      readonly durationMs: number;
      /** Absent when the call completed. */
      readonly problem?: CallProblem | undefined;
      /** The output. */
      readonly content?: unknown;
      readonly facts?: Facts | undefined;
    }
  /** The open call of this id, else the next one, was allowed. */
  | {
      readonly signal: "call_approved";
      readonly callId: string;
      readonly name: string;
      /** How long the approver took, in ms. */
      readonly waitMs?: number | undefined;
    }
  /** The open call of this id was refused; where none is open, one that never started. */
  | {
      readonly signal: "call_denied";
      readonly callId: string;
      readonly name: string;
      /** The reason. */
      readonly content?: unknown;
      readonly facts?: Facts | undefined;
    }
  /** The model is called. A run has at most one open model call. */
  | {
      readonly signal: "model_opens";
      readonly model?: string | undefined;
      readonly facts?: Facts | undefined;
    }
  /** The open model call ended; `at` may lie before the time of the event that says so. */
  | {
      readonly signal: "model_closes";
      readonly problem?: ModelProblem | undefined;
      /** It was cut off: nobody says how it would have ended. */
      readonly unfinished?: boolean | undefined;
      readonly facts?: Facts | undefined;
    }
  /** A point in the life of the run, of its open model call or of an open call. */
  | {
      readonly signal: "note";
      readonly name: string;
      readonly on?: NoteTarget | undefined;
      readonly facts?: Facts | undefined;
    }
  /** More is known of the open run. */
  | { readonly signal: "facts"; readonly facts: Facts }
  /** The run was heard of, which says no more of it: one that is over stays so. */
  | { readonly signal: "heard" }
  /** An event of a run that is over, as its source's reader knows: it changes nothing but this count. */
  | { readonly signal: "late"; readonly reason: LateReason };

/** Why an event came too late for its run. */
export type LateReason = Extract<IgnoredReason, "second_terminal" | "after_end">;

export type NoteTarget = "run" | "model" | { readonly callId: string };
