import { type Draft, roleDraft } from "./items.ts";
import { listIn, type OwnFields, objectIn, own, textIn } from "./own-fields.ts";

/** Roles of LangChain's message classes. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["HumanMessage", "user"],
  ["AIMessage", "assistant"],
  ["SystemMessage", "system"],
  ["ToolMessage", "tool"],
  ["FunctionMessage", "tool"],
]);

/** Types of LangChain's messages. Each is also a role. */
const TYPES: ReadonlySet<string> = new Set([
  "human",
  "ai",
  "system",
  "developer",
  "tool",
  "function",
]);

/**
 * A message in LangChain's serialized form `{ lc, type: "constructor", id, kwargs }`, in its stored form `{ type:
 * "human", data }`, or in the form of LangGraph's server `{ type: "human", content }`.
 */
export function serializedDraft(fields: OwnFields): Draft | undefined {
  const role = textIn(fields, "type") ?? "";
  if (!TYPES.has(role) || textIn(fields, "role") !== undefined) return constructorDraft(fields);
  const data = objectIn(fields, "data") ?? fields;
  return own(data, "content") === undefined && own(data, "tool_calls") === undefined
    ? undefined
    : roleDraft({ ...data, role });
}

function constructorDraft(fields: OwnFields): Draft | undefined {
  if (own(fields, "lc") === undefined || own(fields, "type") !== "constructor") return undefined;
  const name = listIn(fields, "id")?.at(-1);
  const kwargs = objectIn(fields, "kwargs");
  if (typeof name !== "string" || kwargs === undefined) return undefined;
  const role = CLASSES.get(name.replace(/Chunk$/, ""));
  return roleDraft(role === undefined ? kwargs : { ...kwargs, role });
}
