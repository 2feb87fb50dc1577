import { type Draft, roleDraft } from "./items.ts";
import { listIn, type OwnFields, objectIn, own, textIn } from "./own-fields.ts";

/** Roles of LangChain's classes of messages. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["HumanMessage", "user"],
  ["AIMessage", "assistant"],
  ["SystemMessage", "system"],
  ["ToolMessage", "tool"],
  ["FunctionMessage", "tool"],
]);

/** What LangChain's messages have as their type, and each is a role in its words. */
const TYPES: ReadonlySet<string> = new Set([
  "human",
  "ai",
  "system",
  "developer",
  "tool",
  "function",
]);

/**
 * A message as LangChain serializes it: `{ lc, type: "constructor", id, kwargs }`, as it stores it:
 * `{ type: "human", data }`, and as LangGraph's server sends it: `{ type: "human", content }`.
 */
export function serializedDraft(fields: OwnFields): Draft | undefined {
  const role = textIn(fields, "type") ?? "";
  if (!TYPES.has(role) || textIn(fields, "role") !== undefined) return constructorDraft(fields);
  const said = objectIn(fields, "data") ?? fields;
  return own(said, "content") === undefined && own(said, "tool_calls") === undefined
    ? undefined
    : roleDraft({ ...said, role });
}

function constructorDraft(fields: OwnFields): Draft | undefined {
  if (own(fields, "lc") === undefined || own(fields, "type") !== "constructor") return undefined;
  const name = listIn(fields, "id")?.at(-1);
  const kwargs = objectIn(fields, "kwargs");
  if (typeof name !== "string" || kwargs === undefined) return undefined;
  const role = CLASSES.get(name.replace(/Chunk$/, ""));
  return roleDraft(role === undefined ? kwargs : { ...kwargs, role });
}
