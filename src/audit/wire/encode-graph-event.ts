import { stringifyExact } from "../../events/exact-json.ts";
import type { AnyGraphEvent } from "./graph-event.ts";
import { graphEventShape } from "./graph-event-shape.ts";
import {
  isObject,
  type RecordShape,
  record,
  type TaggedShape,
  type WireField,
  type WireShape,
} from "./wire-shape.ts";

/**
 * Writes an entry as upstream's serde does: the fields in the order of its declaration, what is not
 * there as `null` or left out as upstream does. One line of text, without its newline.
 *
 * What this version does not know is never dropped: an object with an unknown field is written in
 * its own order, and an unknown kind as it stands. A value that is no JSON at all becomes a text that
 * says so; the event itself always stays an object with its kind. It does not throw, but for a getter
 * of the event's own that does.
 *
 * @example
 * encodeGraphEvent({ kind: "cancelled", reason: "deadline", timestamp: "2026-04-29T12:00:00Z" });
 */
export function encodeGraphEvent(event: AnyGraphEvent): string {
  const text = encode(graphEventShape, event);
  if (text.startsWith('{"kind":')) return text;
  if (text.startsWith("{") && Object.hasOwn(event, "kind")) return text;
  // An unknown kind with a cycle in it, say: written as one text it could never be read as an event.
  return encodeAsItStands(NOTHING_KNOWN, { ...event, kind: event.kind });
}

const NOTHING_KNOWN = record();

function encode(shape: WireShape, value: unknown): string {
  switch (shape.type) {
    case "text":
    case "choice":
    case "time":
    case "decimal":
      return typeof value === "string" ? JSON.stringify(value) : stringifyExact(value);
    case "flag":
    case "integer":
    case "json":
    case "text_map":
      return stringifyExact(value);
    case "list":
      return Array.isArray(value)
        ? `[${value.map((each: unknown) => encode(shape.of, each)).join(",")}]`
        : stringifyExact(value);
    case "record":
      return isObject(value) ? encodeRecord(shape, value, "") : stringifyExact(value);
    case "tagged":
      return encodeTagged(shape, value);
    default:
      return impossible(shape);
  }
}

function encodeTagged(shape: TaggedShape, value: unknown): string {
  if (!isObject(value)) return stringifyExact(value);
  const tag = value[shape.tag];
  const variant = typeof tag === "string" ? shape.variants.get(tag) : undefined;
  if (variant === undefined) return stringifyExact(value);
  return encodeRecord(variant, value, shape.tag);
}

function encodeRecord(
  shape: RecordShape,
  value: Readonly<Record<string, unknown>>,
  tag: string,
): string {
  let known = 0;
  let body = "";
  if (tag !== "") {
    known = 1;
    body = `"${tag}":${JSON.stringify(value[tag])}`;
  }
  for (const field of shape.fields) {
    const given = value[field.name];
    if (given !== undefined) known += 1;
    const written = encodeField(field, given);
    if (written === "") continue;
    body = body === "" ? field.key + written : `${body},${field.key}${written}`;
  }
  return Object.keys(value).length > known && hasMore(shape, value, tag)
    ? encodeAsItStands(shape, value)
    : `{${body}}`;
}

/** Whether something unknown is in it; a known field that is `undefined` is not there, as in JSON. */
function hasMore(
  shape: RecordShape,
  value: Readonly<Record<string, unknown>>,
  tag: string,
): boolean {
  return Object.entries(value).some(
    ([name, given]) => given !== undefined && name !== tag && !shape.byName.has(name),
  );
}

/** The field's JSON, or nothing when it is left out. */
function encodeField(field: WireField, value: unknown): string {
  switch (field.presence) {
    case "always":
      return value === undefined ? "" : encode(field.shape, value);
    case "or_null":
      return value === undefined || value === null ? "null" : encode(field.shape, value);
    case "if_set":
      return value === undefined || value === null ? "" : encode(field.shape, value);
    case "if_any":
      return value === undefined || (Array.isArray(value) && value.length === 0)
        ? ""
        : encode(field.shape, value);
    case "or_default":
      return value === undefined ? field.fallback : encode(field.shape, value);
    default:
      return impossible(field.presence);
  }
}

function encodeAsItStands(shape: RecordShape, value: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const field = shape.byName.get(name);
    const written = field === undefined ? stringifyExact(given) : encode(field.shape, given);
    parts.push(`${JSON.stringify(name)}:${written}`);
  }
  return `{${parts.join(",")}}`;
}

function impossible(value: never): never {
  throw new TypeError(`no such wire shape: ${String(value)}`);
}
