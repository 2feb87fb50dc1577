import { constructorName, textProperty } from "./thrown-property.ts";

/**
 * Whether a thrown value goes by one of these names: its `name`, or its class's (the errors of
 * OpenAI's SDK are all named "Error").
 */
export function hasName(thrown: unknown, names: ReadonlySet<string>): boolean {
  return names.has(textProperty(thrown, "name") ?? "") || names.has(constructorName(thrown));
}
