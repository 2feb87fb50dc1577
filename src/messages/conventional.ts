import type { InputMessage, MessagePart } from "./message.ts";
import { fieldsIn, type OwnFields, own } from "./own-fields.ts";

interface Required {
  readonly texts: readonly string[];
  /** Fields that may hold anything but nothing. */
  readonly values: readonly string[];
}

/** The fields that a part of a known type must have. */
const REQUIRED: ReadonlyMap<string, Required> = new Map([
  ["text", { texts: ["content"], values: [] }],
  ["reasoning", { texts: ["content"], values: [] }],
  ["tool_call", { texts: ["name"], values: [] }],
  ["tool_call_response", { texts: [], values: ["response"] }],
  ["server_tool_call", { texts: ["name"], values: ["server_tool_call"] }],
  ["server_tool_call_response", { texts: [], values: ["server_tool_call_response"] }],
  ["blob", { texts: ["modality", "content"], values: [] }],
  ["uri", { texts: ["modality", "uri"], values: [] }],
  ["file", { texts: ["modality", "file_id"], values: [] }],
]);

/** Fields that are text or `null`, where there are any. */
const OPTIONAL = ["id", "mime_type"];

/** Whether a value is a message in the conventions' form. */
export function isMessage(value: unknown): value is InputMessage {
  const fields = fieldsIn(value);
  if (fields === undefined || fields !== value) return false;
  const role = own(fields, "role");
  if (typeof role !== "string" || role === "") return false;
  const parts = own(fields, "parts");
  if (!isTextOrNothing(own(fields, "name"))) return false;
  return Array.isArray(parts) && parts.every(isPart);
}

/** Whether a value is a part of a message in the conventions' form; also of a type of its own. */
export function isPart(value: unknown): value is MessagePart {
  const fields = fieldsIn(value);
  if (fields === undefined || fields !== value) return false;
  const type = own(fields, "type");
  return typeof type === "string" && hasRequired(fields, type);
}

/** Whether a value is a part of a type that the conventions name. */
export function isKnownPart(value: unknown): value is MessagePart {
  return isPart(value) && isKnownType(value.type);
}

/** Whether the conventions name the type of a part. */
export function isKnownType(type: string): boolean {
  return REQUIRED.has(type);
}

function hasRequired(fields: OwnFields, type: string): boolean {
  const required = REQUIRED.get(type);
  if (required === undefined) return true;
  return (
    required.texts.every((name) => typeof own(fields, name) === "string") &&
    required.values.every((name) => fields[name] !== undefined) &&
    OPTIONAL.every((name) => isTextOrNothing(own(fields, name)))
  );
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
