import { boundedJson } from "./bounded-json.ts";
import { JsonTextParser, MAX_JSON_DEPTH } from "./json-text-parser.ts";
import { checkGivenText } from "./option-checks.ts";
import { plainJson } from "./plain-json.ts";
import { MOST_JSON_BYTES } from "./value-limits.ts";

/**
 * `JSON.parse` without loss of digits: integers from 2^53 and to -2^53 become `bigint`.
 *
 * Otherwise it equals `JSON.parse`: numbers with a fraction or an exponent stay numbers, `-0` is kept, the last of
 * two equal keys counts, and `__proto__` is an ordinary key. For texts without large integers it costs little more
 * than `JSON.parse`.
 *
 * @throws TypeError if it is not text.
 * @throws JsonSyntaxError (a `SyntaxError`) with the position and the expected syntax. Also for nesting deeper than
 *   1,000 levels and for integers of more than 10,000 digits.
 *
 * @example
 * parseExact('{"account":9007199254740993}'); // { account: 9007199254740993n }
 */
export function parseExact(text: string): JsonValue {
  checkGivenText(text, "text");
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message often lacks the position, and quotes the text, which may be content.
    return new JsonTextParser(text).parse();
  }
  return isExact(value, 0) ? value : new JsonTextParser(text).parse();
}

/** `JSON.parse` that returns `undefined` for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether no number of the value can have lost digits, and nothing is nested too deeply. This costs half of searching
 * the text for long numbers, since it skips strings.
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
  // Unlike Object.keys and Object.values, this makes no array, which would be most of the cost.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const inner = value[key];
    // Most values are strings, and the cost is the call for each value.
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
 * Like `JSON.stringify`, it calls `toJSON`. `undefined`, functions and symbols become `null` in arrays and are left
 * out of objects. Bytes are written as base64 and a `Map` as an object, as in rows of the audit log; `docs/audit.md`
 * lists these forms. A value that cannot be written (a cycle, a getter or `toJSON` that throws, more than 960 levels,
 * `undefined` at the top) is replaced by the JSON string `"[unserializable: <reason>]"`. The reason never quotes the
 * value. A value with more than 32 MiB of JSON is shortened inside, with marks.
 *
 * @example
 * stringifyExact({ account: 9007199254740993n }); // '{"account":9007199254740993}'
 */
export function stringifyExact(value: unknown): string {
  return boundedJson(value, EXACT).text;
}

const EXACT = { bytes: MOST_JSON_BYTES, binary: "base64" } as const;

/**
 * {@link stringifyExact} for values that must not be shortened.
 *
 * @throws RangeError if the JSON has more than 32 MiB.
 */
export function wholeJson(value: unknown): string {
  if (kept !== undefined && kept.value === value) return kept.text;
  // Most values are plain. The rest is for boundedJson, which looks once more.
  const plain = plainJson(value, MOST_JSON_BYTES);
  if (plain !== undefined) return plain;
  const { cut, text } = boundedJson(value, EXACT);
  if (!cut) return text;
  throw new RangeError(`value: expected at most ${MOST_JSON_BYTES} bytes of JSON`);
}

/** The JSON of a large value, from the code that measured it to the code that stores it. */
let kept: { readonly value: unknown; readonly text: string } | undefined;

/**
 * Keeps the JSON of a value for {@link wholeJson}, so that a large value is read once. It must be forgotten before
 * other code can change the value.
 */
export function keepJson(value: unknown, text: string): void {
  kept = { value, text };
}

export function forgetJson(): void {
  kept = undefined;
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
