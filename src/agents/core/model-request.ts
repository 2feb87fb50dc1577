import { MOST_NAME } from "../../events/door.ts";
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
