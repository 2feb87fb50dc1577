import { MOST_NAME } from "../../events/door.ts";
import { fieldsOf, listOf, textOf } from "./narrow.ts";

/**
 * What a tool is for, by the definitions of tools that a model was given. Clients write them in one of
 * two forms: with name and description, or with both in `function`.
 */
export function describedIn(definitions: unknown, tool: string): string | undefined {
  for (const each of listOf(definitions) ?? []) {
    const fields = fieldsOf(each);
    const definition = textOf(fields?.name) === undefined ? fieldsOf(fields?.function) : fields;
    if (definition?.name === tool) return textOf(definition.description)?.slice(0, MOST_NAME);
  }
  return undefined;
}
