import type { ModelCallUsage } from "../../events/door.ts";
import { aiSdkProvider } from "../core/ai-sdk-providers.ts";
import { type ModelRequest, toolChoiceOf } from "../core/model-request.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "../core/narrow.ts";
import { parametersIn } from "../runtime/model-parameters.ts";

/**
 * Whether a span of a request stands for one. When a run resumes, Mastra opens such a span for the answer
 * that the run had before; likewise for an answer out of a cache. They have no request.
 */
export function isRequest(attributes: Fields): boolean {
  return attributes.parameters !== undefined || attributes.toolChoice !== undefined;
}

/** What Mastra says of a request, beside its messages. */
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

// `streaming` is no parameter here: Mastra says it of every call.
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

/** The usage that a span has. The input contains the cached tokens, the output those of reasoning. */
export function usageIn(usage: unknown): ModelCallUsage | undefined {
  const fields = fieldsOf(usage);
  const ofInput = fieldsOf(fields?.inputDetails);
  const ofOutput = fieldsOf(fields?.outputDetails);
  return counted(fields, {
    cache_read_input_tokens: countOf(ofInput?.cacheRead),
    cache_write_input_tokens: countOf(ofInput?.cacheWrite),
    reasoning_output_tokens: countOf(ofOutput?.reasoning),
  });
}

/** The usage that the last part of a model's stream has. */
export function streamUsageIn(finish: Fields | undefined): ModelCallUsage | undefined {
  const fields = fieldsOf(fieldsOf(finish?.output)?.usage);
  return counted(fields, {
    cache_read_input_tokens: countOf(fields?.cachedInputTokens),
    cache_write_input_tokens: countOf(fields?.cacheCreationInputTokens),
    reasoning_output_tokens: countOf(fields?.reasoningTokens),
  });
}

function counted(fields: Fields | undefined, details: ModelCallUsage): ModelCallUsage | undefined {
  const input = countOf(fields?.inputTokens);
  const output = countOf(fields?.outputTokens);
  if (input === null && output === null) return undefined;
  return { input_tokens: input, output_tokens: output, ...details };
}
