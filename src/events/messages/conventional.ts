import type { InputMessage, MessagePart } from "./message.ts";
import { entriesIn, fieldsIn, isReadable, type OwnFields, own } from "./own-fields.ts";

interface Required {
  readonly texts: readonly string[];
  /** Fields with an object that has its own type. */
  readonly typed?: string;
}

/** The required fields of each known type of part. */
const REQUIRED: ReadonlyMap<string, Required> = new Map([
  ["text", { texts: ["content"] }],
  ["reasoning", { texts: ["content"] }],
  ["tool_call", { texts: ["name"] }],
  ["tool_call_response", { texts: [] }],
  ["server_tool_call", { texts: ["name"], typed: "server_tool_call" }],
  ["server_tool_call_response", { texts: [], typed: "server_tool_call_response" }],
  ["blob", { texts: ["modality", "content"] }],
  ["uri", { texts: ["modality", "uri"] }],
  ["file", { texts: ["modality", "file_id"] }],
]);

/** Optional fields, which are text or `null`. */
const OPTIONAL = ["id", "mime_type"];

/** Whether a value is a message in the conventions' form. */
export function isMessage(value: unknown): value is InputMessage {
  const fields = fieldsIn(value);
  if (fields === undefined || fields !== value) return false;
  const role = own(fields, "role");
  if (typeof role !== "string" || role === "") return false;
  const parts = own(fields, "parts");
  if (!isTextOrNothing(own(fields, "name"))) return false;
  return Array.isArray(parts) && entriesIn(parts).every(isPart);
}

/** Whether a value is a part of a message in the conventions' form. Its type may be unknown. */
export function isPart(value: unknown): value is MessagePart {
  const fields = fieldsIn(value);
  if (fields === undefined || fields !== value) return false;
  const type = own(fields, "type");
  return typeof type === "string" && hasRequired(fields, type) && isReadable(fields);
}

/** Whether a value is a part with one of the conventions' types. */
export function isKnownPart(value: unknown): value is MessagePart {
  return isPart(value) && isKnownType(value.type);
}

/** Whether the type is one of the conventions'. */
export function isKnownType(type: string): boolean {
  return REQUIRED.has(type);
}

function hasRequired(fields: OwnFields, type: string): boolean {
  const required = REQUIRED.get(type);
  if (required === undefined) return true;
  const { texts, typed } = required;
  return (
    texts.every((name) => typeof own(fields, name) === "string") &&
    (typed === undefined || isTyped(own(fields, typed))) &&
    (type !== "tool_call_response" || isWritten(fields, "response")) &&
    OPTIONAL.every((name) => isTextOrNothing(own(fields, name)))
  );
}

function isTyped(value: unknown): boolean {
  const fields = fieldsIn(value);
  return fields !== undefined && typeof own(fields, "type") === "string";
}

/** Whether its JSON has the field, with any value including `null`. */
function isWritten(fields: OwnFields, name: string): boolean {
  return (fields[name] === null && Object.hasOwn(fields, name)) || own(fields, name) !== undefined;
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
