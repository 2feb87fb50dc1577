import { type Fields, fieldsOf } from "../core/door.ts";

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
