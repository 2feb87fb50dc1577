import { boundedCopy, MOST_COPY } from "../bounded-copy.ts";
import { boundedJson } from "../bounded-json.ts";
import { parseExact } from "../exact-json.ts";
import { namesOf } from "../field-names.ts";

// Messages are read in the form of their JSON: own fields, and the result of `toJSON`. Otherwise a recording of them
// would give other spans.

/** An object whose own fields can be read. */
export interface OwnFields {
  readonly [field: string]: unknown;
}

/** An object that is not a list, in the form of its JSON. */
export function fieldsIn(value: unknown): OwnFields | undefined {
  const plain = plainOf(value);
  return isObject(plain) && !Array.isArray(plain) ? plain : undefined;
}

/** A field that `JSON.stringify` would write. `null` counts as absent. */
export function own(fields: OwnFields, name: string): unknown {
  // Most fields are absent, and the first check is faster.
  const isWritten = Object.hasOwn(fields, name) && isEnumerable.call(fields, name);
  const value = isWritten ? fields[name] : undefined;
  if (isObject(value)) return plainOf(value);
  return isNothing(value) ? undefined : value;
}

const isEnumerable = Object.prototype.propertyIsEnumerable;

/** A field that is text. */
export function textIn(fields: OwnFields, name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === "string" ? value : undefined;
}

/** Whether `JSON.stringify` leaves the value out, or writes it as `null`. */
export function isNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    typeof value === "function" ||
    typeof value === "symbol" ||
    (typeof value === "number" && !Number.isFinite(value))
  );
}

/** The first of these fields that is a text. */
export function firstText(fields: OwnFields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textIn(fields, name);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A field that is a list. */
export function listIn(fields: OwnFields, name: string): readonly unknown[] | undefined {
  const value = own(fields, name);
  return Array.isArray(value) ? entriesIn(value).map(plainOf) : undefined;
}

/** Most entries of a list that are read. */
export const MOST_ENTRIES = 100_000;

/**
 * The entries of a list. A list above the limit gives only its start and end, because a sparse list may have any
 * length.
 */
export function entriesIn(list: readonly unknown[]): readonly unknown[] {
  if (list.length <= MOST_ENTRIES) return list;
  const half = MOST_ENTRIES / 2;
  return [...list.slice(0, half), ...list.slice(-half)];
}

/** A field that is an object. */
export function objectIn(fields: OwnFields, name: string): OwnFields | undefined {
  return fieldsIn(own(fields, name));
}

/** A value as text: a text unchanged, any other value as JSON of at most 1 MiB. */
export function jsonText(value: unknown): string {
  if (typeof value === "string") return value;
  const { text } = boundedJson(value, TEXT_FORMS);
  // A date, or a value without JSON: its JSON is a text.
  return text.startsWith('"') ? String(JSON.parse(text)) : text;
}

/** Bytes are written by type and length, as on spans. */
const TEXT_FORMS = { bytes: 1024 * 1024, binary: "summary", errorText: true } as const;

/** A longer text is not parsed and stays a text. */
const MOST_PARSED = 1024 * 1024;

/** The arguments of a call. Models write them as JSON text. */
export function argumentsIn(given: unknown): unknown {
  if (typeof given !== "string") return readable(given);
  if (given.length > MOST_PARSED || !/^\s*[[{]/.test(given)) return given;
  try {
    const value = parseExact(given);
    return isReadable(value) ? value : given;
  } catch {
    return given;
  }
}

/** The value, or its JSON as text if the value would make the complete message unreadable. */
export function readable(value: unknown): unknown {
  return isReadable(value) ? value : jsonText(value);
}

/** Most levels within a part. Readers of JSON have their own limits, and arguments come from models. */
const MAX_LEVELS = 200;

/** Whether a value has JSON within the limit of levels, no cycle, and nothing that throws. */
export function isReadable(value: unknown): boolean {
  try {
    return isWithin(value, MAX_LEVELS, { left: MOST_ENTRIES });
  } catch {
    return false;
  }
}

/** @param visits remaining number of visits. Values beyond it are written safely anyway. */
function isWithin(value: unknown, levels: number, visits: { left: number }): boolean {
  if (!isObject(value) || ArrayBuffer.isView(value)) return true;
  if (levels === 0) return false;
  const plain = plainOf(value);
  if (!isObject(plain)) return true;
  for (const name of namesOf(plain)) {
    visits.left -= 1;
    if (visits.left < 0) return true;
    const inner = plain[name];
    if (typeof inner === "object" && !isWithin(inner, levels - 1, visits)) return false;
  }
  return true;
}

function plainOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return entriesIn(value);
  if (value instanceof String) return String(value);
  if (typeof value.toJSON !== "function") return value;
  // As a field, because `toJSON` may return `undefined`, which a top-level value must not be.
  const copy = boundedCopy({ value }, MOST_COPY).value;
  return isObject(copy) ? copy.value : copy;
}

export function isObject(value: unknown): value is OwnFields {
  return typeof value === "object" && value !== null;
}
