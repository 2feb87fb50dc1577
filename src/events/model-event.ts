import type { ErrorEnvelope, FailureKind } from "./errors/error-kinds.ts";

// entelix's agents do not report single model calls. Agents written in TypeScript do, so these three types are this
// package's own. They are sent among the others, and entelix does not read them.

/** What a model was asked for: an answer (`chat`), or vectors of texts (`embeddings`). */
export type ModelOperation = "chat" | "embeddings";

interface ModelScoped {
  /** The run that calls its model. */
  readonly run_id: string;
  readonly tenant_id: string;
  /** ID of the call, unique among the open calls of the run. */
  readonly model_call_id: string;
  /** The requested model: `gen_ai.request.model`. */
  readonly model?: string | null;
  /** `gen_ai.operation.name`. Default `chat`. */
  readonly operation?: ModelOperation | null;
}

/** Usage of one model call. Tokens are `bigint` beyond 2^53. */
export interface ModelCallUsage {
  /** Includes cached tokens, as in the GenAI conventions. */
  readonly input_tokens?: number | bigint | null;
  readonly output_tokens?: number | bigint | null;
  readonly cache_read_input_tokens?: number | bigint | null;
  readonly cache_write_input_tokens?: number | bigint | null;
  /** Part of the output tokens. */
  readonly reasoning_output_tokens?: number | bigint | null;
}

/**
 * Parameters of a request, as far as its sender reports them: `gen_ai.request.*`. A value of a wrong type is ignored.
 */
export interface ModelParameters {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
  readonly max_tokens?: number | null;
  readonly frequency_penalty?: number | null;
  readonly presence_penalty?: number | null;
  readonly seed?: number | null;
  readonly choice_count?: number | null;
  readonly stop_sequences?: readonly string[] | null;
  readonly stream?: boolean | null;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly tool_choice?: string | null;
  readonly reasoning_effort?: string | null;
  /** Dimensions of each vector of embeddings. `gen_ai.embeddings.dimension.count`. */
  readonly dimension_count?: number | null;
}

/** The fields of a request without its messages. */
interface ModelRequest {
  /** `gen_ai.provider.name`: `openai`, `anthropic`, … */
  readonly provider?: string | null;
  /** Host of the API: `server.address`. */
  readonly server_address?: string | null;
  readonly server_port?: number | null;
  readonly parameters?: ModelParameters | null;
  /** Content: the system instructions, unless they are a message. */
  readonly system_instructions?: unknown;
  /** Content: the definitions of the tools that the model may call. */
  readonly tools?: unknown;
  /** Content: the messages. */
  readonly input?: unknown;
}

/** A model was asked. It may never answer. */
export interface ModelStart extends ModelScoped, ModelRequest {
  readonly type: "model_start";
}

/** What a call used, and who answered it, as far as known. A failed call may have used tokens too. */
interface ModelUse {
  /** `gen_ai.provider.name` of who answered, or was asked. */
  readonly provider?: string | null;
  readonly usage?: ModelCallUsage | null;
  /** US dollars of this call as a decimal string. Absent: unknown. */
  readonly cost_usd?: string | null;
  /** The model that answered, if the provider reports it. */
  readonly response_model?: string | null;
  readonly response_id?: string | null;
  /** Attempts after the first: a retried call is one call. Absent: unknown. */
  readonly retries?: number | null;
}

/** The model answered. Fields of the request are here if they were not known at the start. */
export interface ModelComplete extends ModelScoped, ModelRequest, ModelUse {
  readonly type: "model_complete";
  /** Whole milliseconds from the start to the last output. */
  readonly duration_ms: number | bigint;
  /** Milliseconds from the start to the first output of a streamed answer. */
  readonly first_output_ms?: number | bigint | null;
  readonly finish_reasons?: readonly string[] | null;
  /** Content: the answer. */
  readonly output?: unknown;
}

/** The model call failed. The run may continue. The server is here if it was not known at the start. */
export interface ModelError
  extends ModelScoped,
    ModelUse,
    Pick<ModelRequest, "server_address" | "server_port"> {
  readonly type: "model_error";
  readonly duration_ms: number | bigint;
  /** Operator text for spans and logs. */
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
