import { JsonTextParser, MAX_JSON_DEPTH } from "./json-text-parser.ts";
import { UnserializableValue, writeExact } from "./json-text-writer.ts";

/**
 * `JSON.parse` without loss of digits: integers from 2^53 and to -2^53 become `bigint`.
 *
 * Everything else equals `JSON.parse`: numbers with a fraction or an exponent stay numbers, `-0` is
 * kept, the last of two equal keys counts, and `__proto__` is an ordinary key. For texts without
 * large integers, it costs little more than `JSON.parse`.
 *
 * @throws JsonSyntaxError (a `SyntaxError`) with the position and what was expected there; also for
 *   nesting deeper than 1,000 levels and for integers of more than 10,000 digits.
 *
 * @example
 * parseExact('{"account":9007199254740993}'); // { account: 9007199254740993n }
 */
export function parseExact(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message often lacks the position and quotes the text, which may be content.
    return new JsonTextParser(text).parse();
  }
  return isExact(value, 0) ? value : new JsonTextParser(text).parse();
}

/** `JSON.parse` that returns `undefined` where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether no number of the value can have lost digits, and nothing is nested too deeply. Looking at
 * the value costs half of looking for long numbers in the text, since strings are passed over.
 */
function isExact(value: JsonValue | undefined, depth: number): boolean {
  if (typeof value === "number") {
    return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
  }
  return typeof value !== "object" || value === null || isExactInside(value, depth + 1);
}

function isExactInside(
  value: readonly JsonValue[] | { readonly [key: string]: JsonValue },
  depth: number,
): boolean {
  if (depth > MAX_JSON_DEPTH) return false;
  if (isList(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (!isExact(value[index], depth)) return false;
    }
    return true;
  }
  // Unlike Object.keys and Object.values this makes no array, which would be most of the cost.
  for (const key in value) {
    const inner = value[key];
    // Most values are, and a call for each is what this costs.
    if (typeof inner === "string") continue;
    if (!isExact(inner, depth)) return false;
  }
  return true;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * `JSON.stringify` that writes a `bigint` as its digits and never throws.
 *
 * Like `JSON.stringify`, it honours `toJSON`. `undefined`, functions and symbols become `null` in
 * arrays and are left out of objects. If `JSON.stringify` would return nothing or throw (such a
 * value at the top, a cycle, a getter or `toJSON` that throws, nesting too deep), the result is the
 * JSON string `"[unserializable: <reason>]"`. The reason never quotes the value.
 *
 * @example
 * stringifyExact({ account: 9007199254740993n }); // '{"account":9007199254740993}'
 */
export function stringifyExact(value: unknown): string {
  try {
    // Some programs give BigInt a toJSON that writes strings; digits are what is promised here.
    if (!("toJSON" in BigInt.prototype)) {
      const text: string | undefined = JSON.stringify(value);
      if (text !== undefined) return text;
    }
  } catch {
    // A bigint, most likely: the writer below finds out.
  }
  try {
    return writeExact(value);
  } catch (error) {
    return JSON.stringify(`[unserializable: ${reasonOf(error)}]`);
  }
}

/**
 * A deep copy of a value as its JSON reads: what {@link stringifyExact} writes, read again.
 *
 * @throws JsonSyntaxError for what {@link parseExact} refuses: nesting deeper than 1,000 levels.
 */
export function copyExact(value: unknown): JsonValue {
  return parseExact(stringifyExact(value));
}

function reasonOf(error: unknown): string {
  if (error instanceof UnserializableValue) return error.message;
  if (error instanceof RangeError) return "too large or nested too deeply";
  return "a getter or toJSON threw";
}

/** Any JSON value, with integers beyond 2^53 as `bigint` so that no digit is lost. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
