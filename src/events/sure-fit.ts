import { types } from "node:util";
import { namesOf } from "./field-names.ts";
import { isPlainText } from "./json-nodes.ts";
import { isFieldsOnly, KEPT_LEVELS, MOST_LEVELS } from "./plain-json.ts";

/**
 * Whether a value contains only JSON values and maps with texts as keys, of at most `bytes` bytes. It reads each text,
 * so unlike `surelyFits` it is sure of values that nearly reach the limit. It costs less than writing the value.
 * `false`: it may have more.
 */
export function readFits(value: unknown, bytes: number): boolean {
  try {
    return restOf(value, bytes, 0) >= 0;
  } catch {
    // A getter threw, or a proxy was revoked.
    return false;
  }
}

/** `-1.2345678901234567e-300`. Longer than `false` and `null`. */
const MOST_NUMBER = 24;

/** The bytes that remain at least. Negative if the value may not fit. */
function restOf(value: unknown, bytes: number, depth: number): number {
  switch (typeof value) {
    case "string":
      return bytes - 2 - (isPlainText(value) ? value.length : 6 * value.length);
    case "object":
      return value === null ? bytes - MOST_NUMBER : restOfObject(value, bytes - 2, depth + 1);
    case "bigint":
    case "function":
      return -1;
    default:
      return bytes - MOST_NUMBER;
  }
}

function restOfObject(value: object, bytes: number, depth: number): number {
  if (depth > MOST_LEVELS || types.isProxy(value)) return -1;
  let left = bytes;
  if (Array.isArray(value)) {
    if (value.length > bytes || "toJSON" in value) return -1;
    for (let index = 0; index < value.length && left >= 0; index += 1) {
      left = restOf(value[index], left - 1, depth);
    }
    return left;
  }
  if (types.isMap(value)) {
    for (const [name, inner] of mapEntries.call(value)) {
      if (typeof name !== "string") return -1;
      left = restAfter(name, inner, left, depth);
      if (left < 0) return left;
    }
    return left;
  }
  if (!isFieldsOnly(value)) return -1;
  if (depth <= KEPT_LEVELS) {
    for (const name of namesOf(value)) {
      left = restAfter(name, value[name], left, depth);
      if (left < 0) return left;
    }
    return left;
  }
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    left = restAfter(name, value[name], left, depth);
    if (left < 0) return left;
  }
  return left;
}

/** The engine's own, which a subclass cannot change. */
const mapEntries = Map.prototype.entries;

function restAfter(name: string, inner: unknown, left: number, depth: number): number {
  // Bytes that were written before may have this name, or a `Buffer` as their type.
  if (name === "base64" || inner === "Buffer") return -1;
  return restOf(inner, restOf(name, left - 2, depth), depth);
}
