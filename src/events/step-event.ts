import type { ErrorEnvelope } from "./errors/error-kinds.ts";

// Steps are parts of a run that are neither calls nor runs: nodes of a graph, retrievals, named parts of a program.
// These three types are this package's own; no Rust agent sends them.

interface StepScoped {
  /** The run that contains the step. */
  readonly run_id: string;
  readonly tenant_id: string;
  /** ID of the step, unique in its run. Calls and child runs refer to it in `details.step_id`. */
  readonly step_id: string;
  /** Name of the node, retriever or part. */
  readonly step: string;
}

/** A step began. It may never end. */
export interface StepStart extends StepScoped {
  readonly type: "step_start";
  /** `retrieval`: it searches documents, like the conventions' operation of that name. Default `step`. */
  readonly kind?: "step" | "retrieval" | null;
  /** Content: the query of a retrieval. */
  readonly input?: unknown;
}

/** A step ended. */
export interface StepComplete extends StepScoped {
  readonly type: "step_complete";
  readonly duration_ms: number | bigint;
  /** Content: the documents of a retrieval. */
  readonly output?: unknown;
}

/** A step failed or, with the wire code `interrupted`, paused its run. The run may continue. */
export interface StepError extends StepScoped {
  readonly type: "step_error";
  /** Operator text. */
  readonly error: string;
  readonly envelope: ErrorEnvelope;
  readonly duration_ms: number | bigint;
}

/**
 * The events of a step.
 *
 * @example
 * const step = { run_id, tenant_id, step_id: "s1", step: "route" };
 * await sink.send({ type: "step_start", ...step });
 * await sink.send({ type: "step_complete", ...step, duration_ms: 12 });
 */
export type StepEvent = StepStart | StepComplete | StepError;

/** Every step event type. */
export const STEP_EVENT_TYPES = [
  "step_start",
  "step_complete",
  "step_error",
] as const satisfies readonly StepEvent["type"][];
