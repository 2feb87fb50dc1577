import { textProperty } from "../../events/door.ts";

/** Errors of the AI SDK whose texts quote the model or the user, with a text to use instead. */
const QUOTING: ReadonlyMap<string, string> = new Map([
  ["AI_InvalidPromptError", "the prompt has not the expected form"],
  ["AI_InvalidToolInputError", "the model's input of a tool has not the expected form"],
  ["AI_JSONParseError", "a text is not JSON"],
  ["AI_NoSuchToolError", "the model asked for a tool that does not exist"],
  ["AI_ToolCallRepairError", "the model's input of a tool could not be repaired"],
  ["AI_TypeValidationError", "a value has not the expected form"],
]);

/** The operator's text for such an error. `undefined`: use the error's own text. */
export function replacementText(thrown: unknown): string | undefined {
  const name = textProperty(thrown, "name");
  const text = name === undefined ? undefined : QUOTING.get(name);
  return text === undefined ? undefined : `${name}: ${text}`;
}
