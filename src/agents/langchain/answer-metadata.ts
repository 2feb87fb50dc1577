import { type Fields, fieldsOf, textOf } from "../core/narrow.ts";

/** Names that providers' packages have for why the model stopped, and for which model answered. */
const FINISH_REASONS = [
  "finish_reason",
  "stop_reason",
  "stopReason",
  "finishReason",
  "done_reason",
];
const MODEL_NAMES = ["model_name", "model"];

/**
 * What is said of an answer, best first. LangChain brings it together in `response_metadata` for an answer
 * that came at once; of a stream it is where the provider's package has put it: Anthropic's in
 * `additional_kwargs`, Bedrock's in the event that stopped it.
 */
export function saidOf(generation: Fields | undefined, message: Fields | undefined): Said {
  const metadata = fieldsOf(message?.response_metadata);
  return [
    metadata,
    fieldsOf(generation?.generationInfo),
    fieldsOf(message?.additional_kwargs),
    fieldsOf(metadata?.messageStop),
  ];
}

type Said = readonly (Fields | undefined)[];

/** Why the model stopped, in its provider's word. */
export function reasonIn(said: Said): string | undefined {
  return firstText(said, FINISH_REASONS);
}

/** The model that answered. */
export function modelIn(said: Said): string | undefined {
  return firstText(said, MODEL_NAMES);
}

function firstText(said: Said, names: readonly string[]): string | undefined {
  for (const fields of said) {
    if (fields === undefined) continue;
    for (const name of names) {
      const text = textOf(fields[name]);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}
