import { type AttributeDoc, content, on } from "./attribute-doc.ts";

/**
 * The attributes of the conventions that this package sets, copied because no npm package has them under their present
 * names. `standingOf` says where each name stands, and its names before and after.
 */
export const CONVENTIONS_ATTRIBUTES = {
  "gen_ai.operation.name": on(
    "run, call, model, step",
    "string",
    "`invoke_agent`, `invoke_workflow`, `execute_tool`, `chat`, `embeddings` or `retrieval`; other steps have none.",
  ),
  "gen_ai.workflow.name": on("run", "string", "Name of the workflow, if the run is one."),
  "gen_ai.request.model": on(
    "model, run",
    "string",
    "The model, where the source names it; on a run, a sub-agent's.",
  ),
  "gen_ai.provider.name": on(
    "model, event",
    "string",
    "The provider that answered, also after a fallback, where the source names it; on an event the one whose account was changed.",
  ),
  "gen_ai.system": on(
    "model",
    "string",
    "Earlier name of `gen_ai.provider.name`: only with `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup`.",
  ),
  "server.address": on(
    "model, call",
    "string",
    "Host of the model's API, or of the MCP server of a call, where the sender knows it: `runAgent`, LangChain, OpenAI Agents, MCP by HTTP.",
  ),
  "server.port": on("model, call", "int", "Its port."),
  "gen_ai.request.temperature": on("model", "double", "Temperature that was asked for."),
  "gen_ai.request.top_p": on("model", "double", "Share of the probability to sample from."),
  "gen_ai.request.top_k": on("model", "int", "Number of tokens to sample from."),
  "gen_ai.request.max_tokens": on("model", "int", "Most tokens of the answer."),
  "gen_ai.request.frequency_penalty": on("model", "double", "Frequency penalty."),
  "gen_ai.request.presence_penalty": on("model", "double", "Presence penalty."),
  "gen_ai.request.seed": on("model", "int", "Seed of the sampling."),
  "gen_ai.request.choice.count": on("model", "int", "Answers that were asked for, unless 1."),
  "gen_ai.request.stop_sequences": on(
    "model",
    "string[]",
    "Texts that end the answer; at most 32.",
  ),
  "gen_ai.request.stream": on("model", "boolean", "`true` where the answer was to be streamed."),
  "gen_ai.request.reasoning.level": on("model", "string", "How much the model was to reason."),
  "gen_ai.embeddings.dimension.count": on("model", "int", "Dimensions of each vector."),
  "gen_ai.response.model": on("model", "string", "The model that answered."),
  "gen_ai.response.id": on("model", "string", "The provider's id of the answer."),
  "gen_ai.response.time_to_first_chunk": on(
    "model",
    "double",
    "Seconds from the start of the attempt that answered to its first output.",
  ),
  "gen_ai.response.finish_reasons": on(
    "run, model",
    "string[]",
    "Why the model stopped; on a run, its last call, where the run's end says so.",
  ),
  "gen_ai.input.messages": content(
    "run, model",
    "What the model or the run was asked: messages in the conventions' form, as JSON.",
  ),
  "gen_ai.output.messages": content(
    "run, model",
    "What the model or the run answered, or what a paused run asks: messages, as JSON. Each has a `finish_reason`.",
  ),
  "gen_ai.system_instructions": content(
    "model",
    "The instructions of the request, which are not among its messages: a list of parts, as JSON.",
  ),
  "gen_ai.tool.definitions": content("model", "The tools that the model may call, as JSON."),
  "gen_ai.agent.name": on(
    "run, call, model, step, marker, event, log",
    "string",
    "Name of the agent, or of the workflow.",
  ),
  "gen_ai.conversation.id": on(
    "run, call, model, log",
    "string",
    "Thread id, only where the source gave one.",
  ),
  "user.id": on("run", "string", "The person whose run it is. Only where the sender gave it."),
  "session.id": on("run", "string", "Session of the application. Only where the sender gave it."),
  "gen_ai.tool.name": on("call, event", "string", "Name of the tool."),
  "gen_ai.tool.call.id": on("call, event", "string", "Tool-use id; not unique, may be empty."),
  "gen_ai.tool.description": on(
    "call",
    "string",
    "What the tool is for, where the sender says it; at most 4,096 characters.",
  ),
  "gen_ai.tool.type": on("call", "string", "Always `function`."),
  "gen_ai.tool.call.arguments": content("call", "Input of the call, as JSON."),
  "gen_ai.tool.call.result": content("call", "Output of the call, as JSON, when it succeeded."),
  "gen_ai.usage.input_tokens": on(
    "run, model",
    "int",
    "Input tokens: of a model call its own, of a root run those of the tree, without runs of another adapter.",
  ),
  "gen_ai.usage.output_tokens": on(
    "run, model",
    "int",
    "Output tokens: of a model call its own, of a root run those of the tree, without runs of another adapter.",
  ),
  "gen_ai.usage.cache_read.input_tokens": on(
    "run, model",
    "int",
    "Input tokens read from the prompt cache; part of the input tokens.",
  ),
  "gen_ai.usage.cache_write.input_tokens": on(
    "run, model",
    "int",
    "Input tokens written to the prompt cache; part of the input tokens.",
  ),
  "gen_ai.usage.cache_creation.input_tokens": on(
    "run, model",
    "int",
    "The same under its older name, which Phoenix and Langfuse read.",
  ),
  "gen_ai.usage.reasoning.output_tokens": on(
    "model",
    "int",
    "Output tokens spent on reasoning; part of the output tokens.",
  ),
  "gen_ai.retrieval.query.text": content("step", "What a retrieval looked for."),
  "gen_ai.retrieval.documents": content("step", "What a retrieval found, as JSON."),
  "mcp.method.name": on(
    "run, call, step",
    "string",
    "Method of the Model Context Protocol: `tools/call` of a call and of a server's run, `elicitation/create` or `sampling/createMessage` of a step.",
  ),
  "mcp.protocol.version": on(
    "run, call",
    "string",
    "Version of the Model Context Protocol that client and server agreed on.",
  ),
  "mcp.session.id": on("run, call", "string", "Session of the Model Context Protocol, by HTTP."),
  "jsonrpc.request.id": on(
    "run, call, step",
    "string",
    "Id of the JSON-RPC request; of a call with several requests that of the last.",
  ),
  "rpc.response.status_code": on(
    "run, call, step",
    "string",
    "Code of the JSON-RPC error that a request was answered with.",
  ),
  "network.transport": on(
    "run, call",
    "string",
    "How a request of the Model Context Protocol travels: `pipe` (a child process) or `tcp` (HTTP).",
  ),
  "error.type": on(
    "run, call, model, step",
    "string",
    "Only with status ERROR: the failure kind of a run or model call, the tool error kind of a call, the wire code of a step; `_OTHER` where the source has none.",
  ),
  "exception.type": on("event", "string", "Name of the error's class."),
  "exception.message": on("event", "string", "Operator text of the error. Redacted."),
  "exception.stacktrace": on("event", "string", "Stack of the error. Redacted."),
} as const satisfies Record<string, AttributeDoc>;
