import { context, trace } from "@opentelemetry/api";

/** A callback handler of SDK calls alone: the attributes that ours sets, and no rules, bounds, errors or tenants. */
export class HandWritten {
  name = "hand-written";
  awaitHandlers = true;
  #spans = new Map();
  #tracer;

  constructor(tracer) {
    this.#tracer = tracer;
  }

  handleChainStart(_chain, _inputs, id, parent, _tags, metadata, _type, name) {
    this.#start(`invoke_agent ${name}`, 0, id, parent, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": name,
      "entelix.run_id": id,
      "entelix.tenant_id": "acme",
      "gen_ai.conversation.id": metadata.thread_id,
    });
  }

  handleChainEnd(outputs, id) {
    this.#end(id, {
      "entelix.run.outcome": "complete",
      "entelix.run.tool_calls": 3,
      "gen_ai.usage.input_tokens": 2400,
      "gen_ai.usage.output_tokens": 300,
      "entelix.usage.requests": 2,
      "entelix.usage.tool_calls": 3,
      "entelix.agent.usage.cost": 0,
      "entelix.run.state": JSON.stringify(outputs),
    });
  }

  handleToolStart(_tool, input, id, parent, _tags, _metadata, name, callId) {
    this.#start(`execute_tool ${name}`, 0, id, parent, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "entelix.run_id": parent,
      "entelix.tenant_id": "acme",
      "gen_ai.tool.call.arguments": input,
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": "function",
      "gen_ai.agent.name": "support",
    });
  }

  handleToolEnd(output, id) {
    this.#end(id, {
      "entelix.tool.outcome": "complete",
      "gen_ai.tool.call.result": output.content ?? output,
    });
  }

  handleChatModelStart(_model, [messages], id, parent, _extra, _tags, metadata) {
    this.#start(`chat ${metadata.ls_model_name}`, 2, id, parent, {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": metadata.ls_model_name,
      "entelix.run_id": parent,
      "entelix.tenant_id": "acme",
      "entelix.model.call_id": id,
      "gen_ai.input.messages": JSON.stringify(messages.map(partsOf)),
      "gen_ai.provider.name": metadata.ls_provider,
    });
  }

  handleLLMEnd(result, id) {
    const { message } = result.generations[0][0];
    const { usage_metadata: usage, response_metadata: response } = message;
    this.#end(id, {
      "entelix.model.outcome": "complete",
      "gen_ai.output.messages": JSON.stringify([partsOf(message)]),
      "gen_ai.response.model": response.model_name,
      "gen_ai.response.finish_reasons": [response.finish_reason],
      "gen_ai.usage.input_tokens": usage.input_tokens,
      "gen_ai.usage.output_tokens": usage.output_tokens,
      "gen_ai.usage.cache_read.input_tokens": usage.input_token_details.cache_read,
    });
  }

  #start(name, kind, id, parent, attributes) {
    const above = this.#spans.get(parent);
    const within = above === undefined ? context.active() : trace.setSpan(context.active(), above);
    this.#spans.set(id, this.#tracer.startSpan(name, { kind, attributes }, within));
  }

  #end(id, attributes) {
    const span = this.#spans.get(id);
    this.#spans.delete(id);
    span.setAttributes(attributes);
    span.end();
  }
}

function partsOf(message) {
  const calls = (message.tool_calls ?? []).map(({ id, name, args }) => ({
    type: "tool_call",
    id,
    name,
    arguments: args,
  }));
  const text = message.content === "" ? [] : [{ type: "text", content: message.content }];
  return { role: message.getType(), parts: [...text, ...calls] };
}
