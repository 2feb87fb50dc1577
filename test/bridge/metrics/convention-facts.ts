// What the GenAI conventions say, as facts that were read and written down by hand. No file of them is copied.
//
// Source: open-telemetry/semantic-conventions-genai, main at e07f4eb (2 October 2026; spans, attributes, metrics) with
// #521 (6 October 2026; inference metrics), read at 6fd0d76 and 06ec68e (9 October 2026), and #579 (event of a call).
// Its migration guide names the changes since 1.41.0. Read on 28 November 2026; there is no release.

/** The spans on which the conventions have an attribute: of runs, tool calls, model calls, retrievals. */
type Place = "run" | "call" | "model" | "step";

interface AttributeFact {
  readonly type: "string" | "string[]" | "int" | "double" | "boolean" | "any";
  readonly on: readonly Place[];
}

const of = (type: AttributeFact["type"], ...on: readonly Place[]): AttributeFact => ({ type, on });

/** Attributes of spans. `run` is `invoke_agent` in this process, or `invoke_workflow`. */
export const ATTRIBUTE_FACTS: Readonly<Record<string, AttributeFact>> = {
  "gen_ai.operation.name": of("string", "run", "call", "model", "step"),
  "gen_ai.workflow.name": of("string", "run"),
  "gen_ai.agent.name": of("string", "run", "call"),
  "gen_ai.agent.description": of("string", "run"),
  "gen_ai.conversation.id": of("string", "run", "call", "model"),
  "gen_ai.provider.name": of("string", "model", "step"),
  "gen_ai.request.model": of("string", "run", "model", "step"),
  "gen_ai.request.temperature": of("double", "run", "model"),
  "gen_ai.request.top_p": of("double", "run", "model"),
  "gen_ai.request.top_k": of("int", "model"),
  "gen_ai.request.max_tokens": of("int", "run", "model"),
  "gen_ai.request.frequency_penalty": of("double", "run", "model"),
  "gen_ai.request.presence_penalty": of("double", "run", "model"),
  "gen_ai.request.seed": of("int", "run", "model"),
  "gen_ai.request.choice.count": of("int", "run", "model"),
  "gen_ai.request.stop_sequences": of("string[]", "run", "model"),
  "gen_ai.request.stream": of("boolean", "model"),
  "gen_ai.request.reasoning.level": of("string", "model"),
  "gen_ai.embeddings.dimension.count": of("int", "model"),
  "gen_ai.response.model": of("string", "model"),
  "gen_ai.response.id": of("string", "model"),
  "gen_ai.response.time_to_first_chunk": of("double", "model"),
  "gen_ai.response.finish_reasons": of("string[]", "run", "model"),
  "gen_ai.usage.input_tokens": of("int", "run", "model"),
  "gen_ai.usage.output_tokens": of("int", "run", "model"),
  "gen_ai.usage.cache_read.input_tokens": of("int", "model"),
  "gen_ai.usage.cache_write.input_tokens": of("int", "model"),
  "gen_ai.usage.reasoning.output_tokens": of("int", "model"),
  "gen_ai.system_instructions": of("any", "run", "model"),
  "gen_ai.input.messages": of("any", "run", "model"),
  "gen_ai.output.messages": of("any", "run", "model"),
  "gen_ai.tool.definitions": of("any", "run", "model"),
  "gen_ai.tool.name": of("string", "call"),
  "gen_ai.tool.call.id": of("string", "call"),
  "gen_ai.tool.description": of("string", "call"),
  "gen_ai.tool.type": of("string", "call"),
  "gen_ai.tool.call.arguments": of("any", "call"),
  "gen_ai.tool.call.result": of("any", "call"),
  "gen_ai.retrieval.query.text": of("string", "step"),
  "gen_ai.retrieval.documents": of("any", "step"),
};

/**
 * Names of the general conventions that are not deprecated, with their types: semantic-conventions 1.45.0, read on 29
 * November 2026 in the npm package of that version. Spans of any kind may have them.
 */
export const GENERAL_FACTS: Readonly<Record<string, AttributeFact["type"]>> = {
  "server.address": "string",
  "server.port": "int",
  "user.id": "string",
  "session.id": "string",
  "mcp.method.name": "string",
  "mcp.protocol.version": "string",
  "mcp.session.id": "string",
  "jsonrpc.request.id": "string",
  "rpc.status_code": "string",
  "network.transport": "string",
  "error.type": "string",
  "exception.type": "string",
  "exception.message": "string",
  "exception.stacktrace": "string",
};

interface MetricFact {
  readonly kind: "histogram" | "counter";
  readonly unit: string;
  readonly attributes: readonly string[];
}

const MODEL_CALL = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "server.address",
  "server.port",
];
const seconds = (...attributes: readonly string[]): MetricFact => ({
  kind: "histogram",
  unit: "s",
  attributes,
});
const usage: MetricFact = {
  kind: "counter",
  unit: "{token}",
  attributes: [...MODEL_CALL, "gen_ai.token.modality"],
};
const tokens: MetricFact = {
  kind: "histogram",
  unit: "{token}",
  attributes: [...MODEL_CALL, "error.type"],
};

/** Metrics of agents and of clients of models. Those of servers and of memory are not about this package. */
export const METRIC_FACTS: Readonly<Record<string, MetricFact>> = {
  "gen_ai.invoke_agent.duration": seconds(
    "gen_ai.agent.name",
    "gen_ai.request.model",
    "error.type",
  ),
  "gen_ai.invoke_agent.tool_calls": {
    kind: "histogram",
    unit: "{tool_call}",
    attributes: ["gen_ai.agent.name"],
  },
  "gen_ai.invoke_agent.inference_calls": {
    kind: "histogram",
    unit: "{inference_call}",
    attributes: ["gen_ai.agent.name"],
  },
  "gen_ai.invoke_workflow.duration": seconds("gen_ai.workflow.name", "error.type"),
  "gen_ai.execute_tool.duration": seconds(
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "gen_ai.agent.name",
    "error.type",
  ),
  "gen_ai.client.operation.duration": seconds(...MODEL_CALL, "error.type"),
  "gen_ai.client.inference.duration": seconds(...MODEL_CALL, "error.type"),
  "gen_ai.client.inference.time_to_first_chunk": seconds(...MODEL_CALL),
  "gen_ai.client.inference.time_per_output_chunk": seconds(...MODEL_CALL),
  "gen_ai.client.inference.operation.input_tokens": tokens,
  "gen_ai.client.inference.operation.output_tokens": tokens,
  "gen_ai.client.inference.usage.input_tokens": usage,
  "gen_ai.client.inference.usage.output_tokens": usage,
  "gen_ai.client.inference.usage.cache_read.input_tokens": usage,
  "gen_ai.client.inference.usage.cache_write.input_tokens": usage,
  "gen_ai.client.inference.usage.reasoning.output_tokens": usage,
};

/** Events as log records. */
export const EVENT_FACTS: readonly string[] = [
  "gen_ai.client.inference.operation.details",
  "gen_ai.client.operation.exception",
  "gen_ai.evaluation.result",
];
