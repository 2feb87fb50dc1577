import { types } from "node:util";
import { namesOf } from "./field-names.ts";

/** Further results of checking a value. */
export class PlainLook {
  /** A field was counted that JSON may leave out. */
  leftOut = false;
  /** The JSON certainly has more bytes. `false`: it may fit, or has a value that JSON does not know. */
  tooLong = false;
}

/** Takes the results that no caller reads. */
const UNREAD = new PlainLook();

/**
 * The engine's JSON of a value that contains only JSON values and fits. Otherwise `undefined`.
 *
 * @param look receives whether the value is too long.
 */
export function plainJson(value: unknown, bytes: number, look = UNREAD): string | undefined {
  try {
    const rest = plainRest(value, bytes, 0, look);
    look.tooLong = rest < 0 && rest !== NOT_PLAIN && !look.leftOut;
    if (rest < 0) return undefined;
    const text: string | undefined = JSON.stringify(value);
    // A UTF-16 unit takes at most three bytes, so most texts need no counting.
    if (text === undefined || text.length * 3 <= bytes || Buffer.byteLength(text, "utf8") <= bytes)
      return text;
  } catch {
    // A getter threw, or a proxy was revoked. The value is read field by field instead.
  }
  return undefined;
}

/** Whether a value contains only JSON values, of at most about `bytes` bytes. */
export function isPlainWithin(value: unknown, bytes: number): boolean {
  try {
    return plainRest(value, bytes, 0, UNREAD) >= 0;
  } catch {
    return false;
  }
}

/** Most bytes of JSON for each unit that {@link plainRest} counts: a number counts as one. */
const MOST_BYTES_PER_COUNTED = 16;

/**
 * Whether a value contains only JSON values, of at most `bytes` bytes. This costs a fraction of writing it. `false`:
 * it may have more, or a value that JSON does not know.
 */
export function surelyFits(value: unknown, bytes: number): boolean {
  return isPlainWithin(value, Math.floor(bytes / MOST_BYTES_PER_COUNTED));
}

/** Levels that are written. Readers of JSON refuse more than 1,000, and the event adds levels around the value. */
export const MOST_LEVELS = 960;

const NOT_PLAIN = Number.NEGATIVE_INFINITY;
/** `"2026-11-28T06:00:00.000Z"` */
const DATE = 26;

/**
 * The bytes that remain at most after writing a value. Negative if it does not fit or contains other than JSON
 * values. This costs a fraction of writing it.
 */
function plainRest(value: unknown, bytes: number, depth: number, look: PlainLook): number {
  switch (typeof value) {
    case "string":
      return bytes - value.length - 2;
    case "object":
      return value === null ? bytes - 4 : plainRestOf(value, bytes, depth + 1, look);
    case "bigint":
      return NOT_PLAIN;
    case "function":
      look.leftOut = true;
      return "toJSON" in value ? NOT_PLAIN : bytes;
    case "undefined":
    case "symbol":
      look.leftOut = true;
      return bytes - 1;
    default:
      return bytes - 1;
  }
}

function plainRestOf(value: object, bytes: number, depth: number, look: PlainLook): number {
  if (depth > MOST_LEVELS || types.isProxy(value)) return NOT_PLAIN;
  let left = bytes - 1;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    if (list.length * 2 > left || "toJSON" in list) return NOT_PLAIN;
    let missing = 0;
    for (let index = 0; index < list.length; index += 1) {
      const each = list[index];
      // Holes: their number is unbounded.
      missing = each === undefined ? missing + 1 : 0;
      if (missing > MOST_MISSING) return NOT_PLAIN;
      left = plainRest(each, left - 1, depth, look);
      if (left < 0) return left;
    }
    return left;
  }
  if (!isFieldsOnly(value)) return isDate(value) ? bytes - DATE : NOT_PLAIN;
  const fields: Readonly<Record<string, unknown>> = value;
  // Values with very many fields have them near the top. There, their names are listed once for all readers.
  if (depth <= KEPT_LEVELS) {
    for (const name of namesOf(fields)) {
      left = restAfter(name, fields[name], left, depth, look);
      if (left < 0) return left;
    }
    return left;
  }
  // Unlike Object.keys, this makes no array, which would be most of the cost.
  for (const name in fields) {
    if (!Object.hasOwn(fields, name)) continue;
    left = restAfter(name, fields[name], left, depth, look);
    if (left < 0) return left;
  }
  return left;
}

/** The bytes that remain after a field. */
function restAfter(
  name: string,
  inner: unknown,
  bytes: number,
  depth: number,
  look: PlainLook,
): number {
  // Bytes that were written before may have these names.
  if (name === "base64" || inner === "Buffer") return NOT_PLAIN;
  const left = bytes - name.length - 3;
  return typeof inner === "string" ? left - inner.length - 2 : plainRest(inner, left, depth, look);
}

/** Levels of a value whose wide objects are recognized. */
export const KEPT_LEVELS = 2;

/** Consecutive entries without a value that are treated as holes. */
const MOST_MISSING = 1_024;

const plainObject = Object.prototype;

/** Whether an object's JSON has only its own fields: it is not a `Map`, bytes or an `Error`, and has no `toJSON`. */
export function isFieldsOnly(value: object): value is Readonly<Record<string, unknown>> {
  if ("toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === plainObject || prototype === null) return true;
  return !(Symbol.toStringTag in value) && !types.isBoxedPrimitive(value) && !isMade(value);
}

/** An instance of an engine class without a distinguishing property, or of another realm. */
function isMade(value: object): boolean {
  return types.isNativeError(value) || value instanceof Error || types.isRegExp(value);
}

const dateToJson: unknown = Date.prototype.toJSON;

function isDate(value: object): boolean {
  return types.isDate(value) && value.toJSON === dateToJson;
}
