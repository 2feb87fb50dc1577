import { counter, doubling, histogram, type MetricDoc } from "./metric-doc.ts";

/** The labels of a model call. The last three are absent where the source does not name them. */
const MODEL_CALL = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "server.address",
  "server.port",
] as const;
const FALLIBLE = [...MODEL_CALL, "error.type"] as const;
const TOKENS = [...MODEL_CALL, "gen_ai.token.modality"] as const;

const CALL_SECONDS = doubling(0.01, 14);
/** Each four times the one before. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, n) => 4 ** n);

/**
 * The metrics of the GenAI conventions. `standing.ts` of this room says from which change each name is, and the
 * names before and after it.
 */
export const CONVENTION_METRICS = {
  "gen_ai.invoke_agent.duration": histogram(
    "s",
    doubling(0.1, 13),
    ["gen_ai.agent.name", "error.type"],
    "Duration of a run, from its `started` to its end.",
  ),
  "gen_ai.invoke_workflow.duration": histogram(
    "s",
    [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200],
    ["gen_ai.workflow.name", "error.type"],
    "The same for a run that is a workflow around agents.",
  ),
  "gen_ai.execute_tool.duration": histogram(
    "s",
    CALL_SECONDS,
    ["gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.agent.name", "error.type"],
    "Duration of a tool call.",
  ),
  "gen_ai.invoke_agent.tool_calls": histogram(
    "{tool_call}",
    doubling(1, 8),
    ["gen_ai.agent.name"],
    "Own tool calls of a run, including failed and denied ones.",
  ),
  "gen_ai.invoke_agent.inference_calls": histogram(
    "{inference_call}",
    doubling(1, 8),
    ["gen_ai.agent.name"],
    "Own model calls of a run, including failed ones.",
  ),
  "gen_ai.client.inference.duration": histogram(
    "s",
    CALL_SECONDS,
    FALLIBLE,
    "Duration of a model call, including retries.",
  ),
  "gen_ai.client.inference.time_to_first_chunk": histogram(
    "s",
    CALL_SECONDS,
    MODEL_CALL,
    "Time from the start of a streamed model call to its first output.",
  ),
  "gen_ai.client.operation.duration": histogram(
    "s",
    CALL_SECONDS,
    FALLIBLE,
    "Duration of a call for embeddings, including retries.",
  ),
  "gen_ai.client.inference.operation.input_tokens": histogram(
    "{token}",
    TOKEN_BUCKETS,
    FALLIBLE,
    "Input tokens of each model call, including cached ones.",
  ),
  "gen_ai.client.inference.operation.output_tokens": histogram(
    "{token}",
    TOKEN_BUCKETS,
    FALLIBLE,
    "Output tokens of each model call, including those of reasoning.",
  ),
  "gen_ai.client.inference.usage.input_tokens": counter(
    "{token}",
    TOKENS,
    "Input tokens of model calls, including cached ones.",
  ),
  "gen_ai.client.inference.usage.output_tokens": counter(
    "{token}",
    TOKENS,
    "Output tokens of model calls, including those of reasoning.",
  ),
  "gen_ai.client.inference.usage.cache_read.input_tokens": counter(
    "{token}",
    TOKENS,
    "Input tokens that were read from the provider's cache.",
  ),
  "gen_ai.client.inference.usage.cache_write.input_tokens": counter(
    "{token}",
    TOKENS,
    "Input tokens that were written to the provider's cache.",
  ),
  "gen_ai.client.inference.usage.reasoning.output_tokens": counter(
    "{token}",
    TOKENS,
    "Output tokens that were spent on reasoning.",
  ),
  "gen_ai.client.token.usage": histogram(
    "{token}",
    TOKEN_BUCKETS,
    [...FALLIBLE, "gen_ai.token.type"],
    "Earlier name of the tokens of each model call.",
  ),
  "gen_ai.client.operation.time_to_first_chunk": histogram(
    "s",
    CALL_SECONDS,
    MODEL_CALL,
    "Earlier name of the time to the first output.",
  ),
} as const satisfies Record<string, MetricDoc>;
