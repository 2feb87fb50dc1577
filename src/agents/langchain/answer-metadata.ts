import { type Fields, fieldsOf, textOf } from "../core/door.ts";

/** Fields in which providers' packages store the finish reason and the model's name. */
const FINISH_REASONS = [
  "finish_reason",
  "stop_reason",
  "stopReason",
  "finishReason",
  "done_reason",
];
const MODEL_NAMES = ["model_name", "model"];

/**
 * The objects that may have metadata of an answer, best first. LangChain collects it in `response_metadata` for a
 * complete answer. For a stream, the provider's package decides: Anthropic uses `additional_kwargs`, Bedrock its stop
 * event.
 */
export function metadataOf(
  generation: Fields | undefined,
  message: Fields | undefined,
): AnswerMetadata {
  const metadata = fieldsOf(message?.response_metadata);
  return [
    metadata,
    fieldsOf(generation?.generationInfo),
    fieldsOf(message?.additional_kwargs),
    fieldsOf(metadata?.messageStop),
  ];
}

type AnswerMetadata = readonly (Fields | undefined)[];

/** The finish reason, in the provider's word. */
export function reasonIn(sources: AnswerMetadata): string | undefined {
  return firstText(sources, FINISH_REASONS);
}

/** The model that answered. */
export function modelIn(sources: AnswerMetadata): string | undefined {
  return firstText(sources, MODEL_NAMES);
}

function firstText(sources: AnswerMetadata, names: readonly string[]): string | undefined {
  for (const fields of sources) {
    if (fields === undefined) continue;
    for (const name of names) {
      const text = textOf(fields[name]);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}
