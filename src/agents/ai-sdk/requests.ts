import type { ModelCallUsage, ModelParameters } from "../../events/door.ts";
import {
  aiSdkProvider,
  countOf,
  type Fields,
  fieldsOf,
  type ModelRequest,
  textOf,
  toolChoiceOf,
} from "../core/door.ts";
import { parametersIn } from "../runtime/door.ts";

/** Data of a request, without its messages. */
export function requestIn(event: Fields, toolChoice: unknown, isStream: boolean): ModelRequest {
  const provider = aiSdkProvider(textOf(event.provider));
  const parameters = callParameters(event, toolChoice, isStream);
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(parameters === undefined ? {} : { parameters }),
  };
}

function callParameters(
  event: Fields,
  toolChoice: unknown,
  isStream: boolean,
): ModelParameters | undefined {
  const choice = fieldsOf(toolChoice);
  return parametersIn({
    temperature: event.temperature,
    top_p: event.topP,
    top_k: event.topK,
    max_tokens: event.maxOutputTokens,
    frequency_penalty: event.frequencyPenalty,
    presence_penalty: event.presencePenalty,
    seed: event.seed,
    stop_sequences: event.stopSequences,
    reasoning_effort: event.reasoning,
    tool_choice: textOf(choice?.toolName) ?? toolChoiceOf(toolChoice),
    // The conventions set this flag only if it is true.
    stream: isStream ? true : undefined,
  });
}

/** Reads the SDK's `LanguageModelUsage`. Input includes cached tokens, output includes reasoning tokens. */
export function usageIn(usage: unknown): ModelCallUsage | undefined {
  const fields = fieldsOf(usage);
  const input = countOf(fields?.inputTokens);
  const output = countOf(fields?.outputTokens);
  if (input === null && output === null) return undefined;
  const ofInput = fieldsOf(fields?.inputTokenDetails);
  const ofOutput = fieldsOf(fields?.outputTokenDetails);
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: countOf(ofInput?.cacheReadTokens),
    cache_write_input_tokens: countOf(ofInput?.cacheWriteTokens),
    reasoning_output_tokens: countOf(ofOutput?.reasoningTokens),
  };
}
