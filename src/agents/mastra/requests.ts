import {
  aiSdkProvider,
  countOf,
  type Fields,
  fieldsOf,
  listOf,
  type ModelRequest,
  textOf,
  toolChoiceOf,
} from "../core/door.ts";
import { parametersIn } from "../runtime/door.ts";

/**
 * Whether a request span stands for a real request. Mastra also opens such a span for the earlier answer of a resumed
 * run, and for an answer from a cache.
 */
export function isRequest(attributes: Fields): boolean {
  return attributes.parameters !== undefined || attributes.toolChoice !== undefined;
}

/** Data of a request, without its messages. */
export function requestIn(generation: Fields, attributes: Fields): ModelRequest {
  const provider = aiSdkProvider(textOf(attributes.provider) ?? textOf(generation.provider));
  const parameters = requestParameters(generation, attributes);
  const address = textOf(generation.serverAddress);
  const port = countOf(generation.serverPort);
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(address === undefined ? {} : { server_address: address }),
    ...(address === undefined || port === null ? {} : { server_port: port }),
  };
}

// `streaming` is not read, because Mastra sets it for every call.
function requestParameters(generation: Fields, attributes: Fields) {
  const given = fieldsOf(attributes.parameters) ?? fieldsOf(generation.parameters) ?? {};
  const hasTools = (listOf(attributes.availableTools) ?? []).length > 0;
  return parametersIn({
    temperature: given.temperature,
    top_p: given.topP,
    top_k: given.topK,
    max_tokens: given.maxOutputTokens,
    frequency_penalty: given.frequencyPenalty,
    presence_penalty: given.presencePenalty,
    seed: given.seed,
    stop_sequences: given.stopSequences,
    tool_choice: hasTools ? choiceIn(attributes.toolChoice) : undefined,
  });
}

function choiceIn(choice: unknown): string | undefined {
  return textOf(fieldsOf(choice)?.toolName) ?? toolChoiceOf(choice);
}
