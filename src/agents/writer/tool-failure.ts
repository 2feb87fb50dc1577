import {
  classifyToolError,
  type FailureSource,
  operatorText,
  renderForLlm,
  type ToolFailure,
  toolEnvelopeOf,
} from "../../events/door.ts";

/** The fields of a failed tool call. */
export function toolFailureOf(
  thrown: unknown,
  source: FailureSource,
  text = operatorText(thrown),
): ToolFailure {
  return {
    error: text,
    error_for_llm: renderForLlm(thrown, source),
    envelope: toolEnvelopeOf(thrown, source),
    kind: classifyToolError(thrown, source),
  };
}
