import type { ErrorEnvelope, FailureKind } from "../errors/error-kinds.ts";

// entelix's agents say nothing of single model calls. Agents written in TypeScript know of them, so
// these three types are this package's own: they travel among the others, and no upstream reads them.

interface ModelScoped {
  /** The run that calls its model. */
  readonly run_id: string;
  readonly tenant_id: string;
  /** Id of the call, unique among the calls of the run that are open at once. */
  readonly model_call_id: string;
  /** The model that was asked for: `gen_ai.request.model`. */
  readonly model?: string | null;
}

/** Usage of one model call. Tokens are `bigint` beyond 2^53. */
export interface ModelCallUsage {
  /** Cached ones included, as the GenAI conventions count. */
  readonly input_tokens?: number | bigint | null;
  readonly output_tokens?: number | bigint | null;
  readonly cache_read_input_tokens?: number | bigint | null;
  readonly cache_write_input_tokens?: number | bigint | null;
  /** Part of the output tokens. */
  readonly reasoning_output_tokens?: number | bigint | null;
}

/** A model was asked. It may never answer. */
export interface ModelStart extends ModelScoped {
  readonly type: "model_start";
  /** `gen_ai.provider.name`: `openai`, `anthropic`, … */
  readonly provider?: string | null;
  /** Content: the messages. */
  readonly input?: unknown;
}

/** The model answered. */
export interface ModelComplete extends ModelScoped {
  readonly type: "model_complete";
  /** Whole milliseconds from the start to the last output. */
  readonly duration_ms: number | bigint;
  /** Milliseconds from the start to the first output of a streamed answer. */
  readonly first_output_ms?: number | bigint | null;
  readonly usage?: ModelCallUsage | null;
  /** The model that answered, if the provider reports it. */
  readonly response_model?: string | null;
  readonly response_id?: string | null;
  readonly finish_reasons?: readonly string[] | null;
  /** Content: the messages, if they were not known at the start. */
  readonly input?: unknown;
  /** Content: the answer. */
  readonly output?: unknown;
}

/** The model call failed. The run may continue. */
export interface ModelError extends ModelScoped {
  readonly type: "model_error";
  readonly duration_ms: number | bigint;
  /** Operator text: for spans and logs. */
  readonly error: string;
  readonly envelope: ErrorEnvelope;
  readonly kind: FailureKind;
}

/**
 * The events of a model call. A run may have several open at once.
 *
 * @example
 * const call = { run_id, tenant_id, model_call_id: "m1", model: "small-1" };
 * await sink.send({ type: "model_start", ...call });
 * await sink.send({ type: "model_complete", ...call, duration_ms: 840, usage: { input_tokens: 31, output_tokens: 7 } });
 */
export type ModelEvent = ModelStart | ModelComplete | ModelError;

/** Every model event type. */
export const MODEL_EVENT_TYPES = [
  "model_start",
  "model_complete",
  "model_error",
] as const satisfies readonly ModelEvent["type"][];
