import { type Draft, roleDraft } from "./items.ts";
import { listIn, type OwnFields, objectIn, own } from "./own-fields.ts";

/** Roles of LangChain's classes of messages. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["HumanMessage", "user"],
  ["AIMessage", "assistant"],
  ["SystemMessage", "system"],
  ["ToolMessage", "tool"],
  ["FunctionMessage", "tool"],
]);

/** A message as LangChain serializes it: `{ lc, type: "constructor", id, kwargs }`. */
export function serializedDraft(fields: OwnFields): Draft | undefined {
  if (own(fields, "lc") === undefined || own(fields, "type") !== "constructor") return undefined;
  const name = listIn(fields, "id")?.at(-1);
  const kwargs = objectIn(fields, "kwargs");
  if (typeof name !== "string" || kwargs === undefined) return undefined;
  const role = CLASSES.get(name.replace(/Chunk$/, ""));
  return roleDraft(role === undefined ? kwargs : { ...kwargs, role });
}
