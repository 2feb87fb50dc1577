import { type Fields, fieldsOf, type ModelRequest, textOf, toolChoiceOf } from "../core/door.ts";
import { parametersIn, serverOf } from "../runtime/door.ts";
import { classOf, providerOf } from "./llm-result.ts";

/** Fields in which providers' packages store the base URL of their client. */
const URLS = ["base_url", "openai_api_base", "anthropic_api_url", "azure_openai_endpoint"];

/**
 * Data of a request, without its messages: from the call's parameters, which each provider's package names
 * differently, and from LangChain's data for tracers (`ls_…`).
 */
export function requestOf(
  serialized: Fields | undefined,
  extra: Fields | undefined,
  metadata: Fields | undefined,
): ModelRequest {
  const asked = fieldsOf(extra?.invocation_params) ?? NOTHING;
  // Google's parameters are in this object.
  const config = fieldsOf(asked.generationConfig) ?? NOTHING;
  const parameters = parametersIn({
    temperature: asked.temperature ?? config.temperature ?? metadata?.ls_temperature,
    top_p: asked.top_p ?? asked.topP ?? config.topP,
    top_k: asked.top_k ?? asked.topK ?? config.topK,
    max_tokens:
      asked.max_tokens ??
      asked.max_completion_tokens ??
      asked.max_output_tokens ??
      asked.maxTokens ??
      config.maxOutputTokens ??
      metadata?.ls_max_tokens,
    frequency_penalty: asked.frequency_penalty,
    presence_penalty: asked.presence_penalty,
    seed: asked.seed,
    choice_count: asked.n,
    stop_sequences: asked.stop ?? asked.stop_sequences ?? config.stopSequences ?? metadata?.ls_stop,
    stream: asked.stream,
    tool_choice: toolChoiceOf(asked.tool_choice),
    reasoning_effort: asked.reasoning_effort ?? fieldsOf(asked.reasoning)?.effort,
  });
  const provider = providerOf(metadata, classOf(serialized));
  return {
    ...(provider === undefined ? {} : { provider }),
    ...serverOf(baseUrlOf(fieldsOf(serialized?.kwargs))),
    ...(parameters === undefined ? {} : { parameters }),
  };
}

/** Content: the definitions of the tools that the model may call. */
export function toolsIn(extra: Fields | undefined): unknown {
  const { invocation_params, options } = extra ?? {};
  return fieldsOf(invocation_params)?.tools ?? fieldsOf(options)?.tools ?? undefined;
}

const NOTHING: Fields = {};

function baseUrlOf(kwargs: Fields | undefined): string | undefined {
  if (kwargs === undefined) return undefined;
  const configured = textOf(fieldsOf(kwargs.configuration)?.baseURL);
  if (configured !== undefined) return configured;
  for (const name of URLS) {
    const url = textOf(kwargs[name]);
    if (url !== undefined) return url;
  }
  return undefined;
}
