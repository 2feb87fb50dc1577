import { forgetNames, keepNames } from "./field-names.ts";
import { Branch, bytesOf, FieldsNode, type JsonNode, knownSize } from "./json-nodes.ts";
import { writeWithin } from "./json-shortening.ts";
import { unserializable, type ValueForms, ValueReader } from "./json-values.ts";
import { PlainLook, plainJson } from "./plain-json.ts";

/** The limit of {@link boundedJson}, and the forms of values that JSON does not know. */
export interface BoundedJsonOptions extends ValueForms {
  /** Most bytes of UTF-8, from 64. A larger value is shortened to this, and to 1 MiB at most. */
  readonly bytes: number;
}

/** JSON of a value, within a limit. */
export interface BoundedJson {
  /** Valid JSON of at most `bytes` bytes. */
  readonly text: string;
  /** Whether a part of the value is missing. Marks in the text describe it: `… [17 bytes cut]`. */
  readonly cut: boolean;
  /** Bytes of the value's JSON that are missing, at least: a large value is not read to its end. */
  readonly cutBytes: number;
}

/** Most bytes of a shortened value. While it is shortened, its parts take many times as much memory. */
const MOST_SHORTENED = 1024 * 1024;

/**
 * Any value as JSON of bounded size. Never throws. A value within the limit is written as by `JSON.stringify`, except
 * for these values. Rows, spans and recordings use the same forms:
 *
 * | value | JSON |
 * |---|---|
 * | `bigint` | its digits |
 * | typed array, `DataView`, `ArrayBuffer`, `SharedArrayBuffer`, `Buffer` | `{"type":"Uint8Array","base64":"AAEC"}`; as
 * `summary`: `{"type":"Uint8Array","bytes":3}`. The same for what `Buffer.toJSON` gives |
 * | `Map` | an object; a key of another type has its JSON as its name, if that is plain and short, else its type |
 * | `Set` | a list |
 * | `Error` | `{"name":"TypeError"}`; with `errorText` also `message` and its own fields |
 * | array of more than 1,024 entries that are mostly holes | an object of the entries that it has |
 * | a cycle, a field that throws, more than 960 levels, more lists and objects than can be shortened, an integer of
 * more than 10,000 digits | the text `[unserializable: <reason>]` in its place, without a word of the value |
 *
 * A larger value is shortened inside: long texts are cut between characters, long lists lose entries in the middle,
 * objects lose their last fields, and bytes are given by type and length. Equal values give equal texts. Work and
 * memory depend on the limit and not on the value, with one exception: the engine lists the names of an object's
 * fields before the first one can be read. A getter of a small value may be read twice.
 *
 * @example
 * boundedJson({ id: 7n, raw: new Uint8Array(3) }, { bytes: 4096, binary: "summary" }).text;
 * // {"id":7,"raw":{"type":"Uint8Array","bytes":3}}
 */
export function boundedJson(value: unknown, options: BoundedJsonOptions): BoundedJson {
  const { bytes } = options;
  const look = new PlainLook();
  const keepsNames = keepNames();
  try {
    const plain = plainJson(value, bytes, look);
    if (plain !== undefined) return { text: plain, cut: false, cutBytes: 0 };
    return bytes > MOST_SHORTENED
      ? largeJson(value, options, look.tooLong)
      : shortJson(value, options);
  } finally {
    if (keepsNames) forgetNames();
  }
}

/** Streams a value that may fit, without keeping its parts. Otherwise it shortens the value. */
function largeJson(value: unknown, options: BoundedJsonOptions, tooLong: boolean): BoundedJson {
  const { bytes } = options;
  if (!tooLong) {
    const reader = new ValueReader(options, bytes);
    const node = reader.node(value, "", undefined);
    const text = node && streamed(node, bytes);
    if (text !== undefined && (text.length * 3 <= bytes || bytesOf(text) <= bytes)) {
      return { text, cut: reader.passedOver, cutBytes: 0 };
    }
  }
  return shortJson(value, { ...options, bytes: MOST_SHORTENED });
}

function shortJson(value: unknown, options: BoundedJsonOptions): BoundedJson {
  const { bytes } = options;
  const reader = new ValueReader(options, bytes);
  const node = reader.node(value, "", undefined);
  if (node === undefined) {
    const why = typeof value === "object" ? "toJSON gave nothing" : typeof value;
    return { text: JSON.stringify(unserializable(why)), cut: false, cutBytes: 0 };
  }
  node.measure(bytes);
  if (node.whole && node.size <= bytes) {
    return { text: node.write(), cut: reader.passedOver, cutBytes: 0 };
  }
  const text = writeWithin(node, bytes);
  return { text, cut: true, cutBytes: Math.max(1, knownSize(node) - bytesOf(text)) };
}

/**
 * The complete JSON of a value, or `undefined` if it has more than `bytes` characters. The parts are not kept in
 * memory: they would take many times the size of the JSON.
 */
function streamed(node: JsonNode, bytes: number): string | undefined {
  const out = { text: "", left: bytes };
  return stream(node, out) ? out.text : undefined;
}

function stream(node: JsonNode, out: { text: string; left: number }): boolean {
  if (!(node instanceof Branch)) {
    // The size of a text is a lower bound.
    return node.size <= out.left && put(node.write(), out);
  }
  // The size of a long list may already be too large.
  if (node.size > out.left) return false;
  const isFields = node instanceof FieldsNode;
  let fits = put(isFields ? "{" : "[", out);
  let isFirst = true;
  node.visit((part, name) => {
    if (!isFirst) out.text += ",";
    isFirst = false;
    fits = !isFields || put(`${name}:`, out);
    fits &&= typeof part === "string" ? put(part, out) : stream(part, out);
    return fits;
  });
  return fits && put(isFields ? "}" : "]", out);
}

function put(json: string, out: { text: string; left: number }): boolean {
  out.text += json;
  out.left -= json.length;
  return out.left >= 0;
}
