import { types } from "node:util";
import { boundedJson } from "../bounded-json.ts";
import { parseExact } from "../exact-json.ts";
import { namesOf } from "../field-names.ts";
import { finishFrom, type MurmurState } from "../ids/murmur3.ts";
import { CONTENT_FORMS } from "../value-limits.ts";

/** Most bytes of a value that are read. */
const MOST_BYTES = 4_096;
const MOST_DEPTH = 64;
/** More fields with a value need more than {@link MOST_BYTES} in any order. */
const MOST_FIELDS = MOST_BYTES / 6;
const SEED_BYTES = 4;
const START: Readonly<MurmurState> = { h1: 0, h2: 0, h3: 0, h4: 0 };

/** The digest of an unknown value. */
export const UNKNOWN = 0;

const bytes = new Uint8Array(SEED_BYTES + MOST_BYTES);
let at = 0;
/** A `toJSON` or getter of a value may call this again. */
let isBusy = false;

/**
 * A 32-bit digest. Values with the same JSON have the same digest (`boundedJson`, as in a recording). The order of
 * fields does not matter.
 *
 * @param seed context of the value. Equal values with another seed have another digest.
 * @returns {@link UNKNOWN} for `null` and `undefined`, which replace content that a sender left out, for values
 *   without JSON, and for more than 4 KiB, because the rest was not read. Each value and each field name counts 3
 *   bytes besides its text.
 */
export function digestOf(seed: number, value: unknown): number {
  if (value === undefined || value === null || isBusy) return UNKNOWN;
  isBusy = true;
  try {
    at = 0;
    for (let shift = 0; shift < 32; shift += 8) bytes[at++] = seed >>> shift;
    if (write(value, "", 0) !== "written") return UNKNOWN;
    // This digest would be UNKNOWN.
    return finishFrom(START, bytes, at).h1 || 1;
  } catch {
    // A getter or `toJSON` threw.
    return UNKNOWN;
  } finally {
    isBusy = false;
  }
}

/** `absent`: JSON leaves it out. `unknown`: it is too long, or nested too deeply. */
type Written = "written" | "absent" | "unknown";

/**
 * Writes the value as `stringifyExact` reads it. Each part starts with its type and length, so that different values
 * have different bytes.
 */
function write(given: unknown, key: string, depth: number): Written {
  const value = typeof given === "object" && given !== null ? jsonOf(given, key) : given;
  switch (typeof value) {
    case "string":
      return writeText("s", value);
    case "number":
      return writeText("n", Number.isFinite(value) ? String(value) : "null");
    case "bigint":
      return writeText("n", String(value));
    case "boolean":
      return writeText("n", value ? "true" : "false");
    case "object":
      if (value === null) return writeText("n", "null");
      if (depth === MOST_DEPTH) return "unknown";
      return Array.isArray(value) ? writeList(value, depth + 1) : writeFields(value, depth + 1);
    default:
      return "absent";
  }
}

function jsonOf(value: object, key: string): unknown {
  if (isSpecial(value)) {
    const { cut, text } = boundedJson(value, SPECIAL);
    // Its JSON exceeds the limit.
    if (cut) throw TOO_LONG;
    return parseExact(text);
  }
  const toJson: unknown = "toJSON" in value ? value.toJSON : undefined;
  const json: unknown = typeof toJson === "function" ? Reflect.apply(toJson, value, [key]) : value;
  const isBoxed =
    json instanceof Number ||
    json instanceof String ||
    json instanceof Boolean ||
    json instanceof BigInt;
  return isBoxed ? json.valueOf() : json;
}

/** As in a recording, so that a replay has the same digest. */
const SPECIAL = { ...CONTENT_FORMS, bytes: MOST_BYTES };

/** Values that JSON does not know. It would write `{}`, or an object of indices. */
function isSpecial(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isNativeError(value)
  );
}

const TOO_LONG = new RangeError("too long");

function writeList(list: readonly unknown[], depth: number): Written {
  if (!put(TAGS.l, list.length)) return "unknown";
  for (let index = 0; index < list.length; index += 1) {
    const written = write(list[index], String(index), depth);
    if (written === "unknown") return written;
    if (written === "absent" && writeText("n", "null") === "unknown") return "unknown";
  }
  return "written";
}

function writeFields(fields: object, depth: number): Written {
  if (!put(TAGS.o, 0)) return "unknown";
  const names = namesOf(fields);
  const isSorted = names.length > 1 && names.length <= MOST_FIELDS;
  const keys = isSorted ? [...names].sort() : names;
  for (const key of keys) {
    const before = at;
    if (writeText("k", key) === "unknown") return "unknown";
    const written = write(Reflect.get(fields, key), key, depth);
    if (written === "unknown") return written;
    if (written === "absent") at = before;
  }
  return put(TAGS.e, 0) ? "written" : "unknown";
}

const TAGS = { s: 1, n: 2, k: 3, l: 4, o: 5, e: 6 } as const;

function writeText(tag: "s" | "n" | "k", text: string): Written {
  const { length } = text;
  if (at + 3 + length > bytes.length || !put(TAGS[tag], length)) return "unknown";
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0xff && at < bytes.length) bytes[at++] = code;
    else if (code >= 0xff && at + 3 <= bytes.length) {
      bytes[at++] = 0xff;
      bytes[at++] = code >> 8;
      bytes[at++] = code;
    } else return "unknown";
  }
  return "written";
}

function put(tag: number, length: number): boolean {
  if (at + 3 > bytes.length || length > MOST_BYTES) return false;
  bytes[at++] = tag;
  bytes[at++] = length >> 8;
  bytes[at++] = length;
  return true;
}
