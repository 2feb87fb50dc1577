import type { ModelParameters } from "../../events/door.ts";
import {
  aiSdkProvider,
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
    dimension_count: event.dimensions,
    stop_sequences: event.stopSequences,
    reasoning_effort: event.reasoning,
    tool_choice: textOf(choice?.toolName) ?? toolChoiceOf(toolChoice),
    // The conventions set this flag only if it is true.
    stream: isStream ? true : undefined,
  });
}

/** The SDK's word for the end of an answer, or the provider's if the SDK has none. */
export function endIn({ finishReason, rawFinishReason }: Fields): string | undefined {
  const fields = fieldsOf(finishReason);
  const word = textOf(finishReason) ?? textOf(fields?.unified);
  const raw = textOf(rawFinishReason) ?? textOf(fields?.raw);
  return word === undefined || word === "other" || word === "unknown" ? (raw ?? word) : word;
}
