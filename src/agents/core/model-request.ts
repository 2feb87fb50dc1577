import { MOST_NAME, toMessages } from "../../events/door.ts";
import { fieldsOf, listOf, textOf } from "./narrow.ts";

/** A tool choice as one text: `auto`, `none`, `required`, or the name of a tool. */
export function toolChoiceOf(given: unknown): string | undefined {
  const fields = fieldsOf(given);
  if (fields === undefined) return textOf(given);
  return textOf(fields.name) ?? textOf(fieldsOf(fields.function)?.name) ?? textOf(fields.type);
}

/**
 * The description of a tool, from the tool definitions that a model got. A definition has name and description
 * directly, or in `function`.
 */
export function describedIn(definitions: unknown, tool: string): string | undefined {
  for (const each of listOf(definitions) ?? []) {
    const fields = fieldsOf(each);
    const definition = textOf(fields?.name) === undefined ? fieldsOf(fields?.function) : fields;
    if (definition?.name === tool) return textOf(definition.description)?.slice(0, MOST_NAME);
  }
  return undefined;
}

/**
 * The text or texts of a request for embeddings, as one message. `undefined` if there is none.
 *
 * @param given a text, or a list of texts. Other values are left out.
 */
export function embeddedTexts(given: unknown): unknown {
  const texts = (listOf(given) ?? [given]).filter((text) => textOf(text) !== undefined);
  if (texts.length === 0) return undefined;
  return toMessages([{ role: "user", content: texts.map((text) => ({ type: "text", text })) }]);
}
