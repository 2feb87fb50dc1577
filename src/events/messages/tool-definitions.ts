import {
  entriesIn,
  fieldsIn,
  firstText,
  listIn,
  type OwnFields,
  objectIn,
  own,
} from "./own-fields.ts";

/** A tool that a model may call, as in the list `gen_ai.tool.definitions`. */
export interface ToolDefinition {
  /** `function`, or a provider's own word. */
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: unknown;
  readonly [field: string]: unknown;
}

/**
 * Tool definitions in the conventions' form, from those of Chat Completions, the Responses API, Anthropic and Gemini.
 * Invalid definitions are left out. Never throws.
 */
export function toolDefinitions(value: unknown): readonly ToolDefinition[] {
  try {
    const list = Array.isArray(value) ? entriesIn(value) : [value];
    return list.every(isDefinition) ? list : list.flatMap(definitionsIn);
  } catch {
    return [];
  }
}

function isDefinition(value: unknown): value is ToolDefinition {
  const fields = fieldsIn(value);
  if (fields === undefined || fields !== value) return false;
  const isNamed =
    typeof own(fields, "type") === "string" && typeof own(fields, "name") === "string";
  return isNamed && own(fields, "function") === undefined && schemaIn(fields) === undefined;
}

function definitionsIn(value: unknown): readonly ToolDefinition[] {
  if (typeof value === "string" && value !== "") return [{ type: "function", name: value }];
  const fields = fieldsIn(value);
  if (fields === undefined) return [];
  const declared =
    listIn(fields, "functionDeclarations") ?? listIn(fields, "function_declarations");
  if (declared !== undefined) return declared.flatMap(definitionsIn);
  if (isDefinition(fields)) return [fields];
  const inner = objectIn(fields, "function") ?? fields;
  const type = firstText(fields, "type") ?? "function";
  const name = firstText(inner, "name") ?? (type === "function" ? undefined : type);
  if (name === undefined) return [];
  const description = firstText(inner, "description");
  const parameters = own(inner, "parameters") ?? schemaIn(inner);
  // Anthropic's type of a user's own tool.
  const known = type === "custom" && parameters !== undefined ? "function" : type;
  return [
    {
      type: known,
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    },
  ];
}

function schemaIn(fields: OwnFields): unknown {
  return own(fields, "input_schema") ?? own(fields, "inputSchema");
}
