import {
  aiSdkProvider,
  type Fields,
  fieldsOf,
  type ModelRequest,
  textOf,
  toolChoiceOf,
} from "../core/door.ts";
import { parametersIn, serverOf } from "../runtime/door.ts";
import { serverAsked } from "./model-servers.ts";
import type { SdkSpanData } from "./sdk.ts";

/** Data of a model request that its span has so far. The SDK's own two models use OpenAI's API. */
export function requestIn(data: SdkSpanData): ModelRequest {
  if (data.type === "response") {
    return { ...responseRequest(fieldsOf(data._response)), ...serverAsked(data) };
  }
  const config = fieldsOf(data.model_config);
  if (config === undefined) return serverAsked(data) ?? NOTHING;
  const provider = providerIn(config);
  const parameters = parametersIn(config);
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(serverAsked(data) ?? serverOf(config.base_url)),
    ...(parameters === undefined ? {} : { parameters }),
  };
}

/**
 * The requested model. For models of the AI SDK, the provider's prefix is removed. A `response` span does not have
 * it: its model is the one that answered.
 */
export function requestedModel(data: SdkSpanData): string | undefined {
  const model = textOf(data.model);
  const provider = textOf(fieldsOf(data.model_config)?.provider);
  if (model === undefined || provider === undefined) return model;
  const prefix = `${provider}:`;
  return model.startsWith(prefix) ? textOf(model.slice(prefix.length)) : model;
}

const NOTHING: ModelRequest = {};

/** The Responses API repeats the request's parameters in its response. */
function responseRequest(response: Fields | undefined): ModelRequest {
  const parameters = parametersIn({
    temperature: response?.temperature,
    top_p: response?.top_p,
    max_tokens: response?.max_output_tokens,
    tool_choice: toolChoiceOf(response?.tool_choice),
    reasoning_effort: fieldsOf(response?.reasoning)?.effort,
  });
  return parameters === undefined ? { provider: "openai" } : { provider: "openai", parameters };
}

/** Other models may store anything in this field, so only known forms count. */
function providerIn(config: Fields): string | undefined {
  if (config.model_impl !== "ai-sdk") {
    return "top_p" in config || "base_url" in config ? "openai" : undefined;
  }
  return aiSdkProvider(textOf(config.provider));
}
