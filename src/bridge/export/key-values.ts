import { type ByteWriter, varintSize } from "./byte-writer.ts";

/** Attributes of any message. They are outside data, since the SDK does not check their types. */
export type KeyValues = Readonly<Record<string, unknown>>;

/** Expected length of a short message, whose length takes one byte. */
const SHORT = 1;

/** @param tag of the repeated field in the outer message. */
export function writeKeyValues(out: ByteWriter, tag: number, attributes: KeyValues): void {
  for (const key in attributes) {
    if (Object.hasOwn(attributes, key)) writeKeyValue(out, tag, key, attributes[key]);
  }
}

function writeKeyValue(out: ByteWriter, tag: number, key: string, value: unknown): void {
  // Exact if key and text are ASCII, so that nothing is moved.
  const expectedValue = typeof value === "string" ? fieldSize(value) : SHORT;
  const expected = fieldSize(key) + 1 + varintSize(expectedValue) + expectedValue;
  out.byte(tag);
  const start = out.open(expected);
  out.byte(0x0a); // key
  out.text(key);
  out.byte(0x12); // value
  writeAnyValue(out, value, expectedValue);
  out.close(start, expected);
}

/** A value with its length. Empty if OTLP has no field for its type. */
function writeAnyValue(out: ByteWriter, value: unknown, expected: number): void {
  const start = out.open(expected);
  switch (typeof value) {
    case "string":
      out.byte(0x0a); // string_value
      out.text(value);
      break;
    case "boolean":
      out.byte(0x10); // bool_value
      out.byte(value ? 1 : 0);
      break;
    case "number":
      writeNumber(out, value);
      break;
    case "object":
      if (value !== null) writeObject(out, value);
      break;
  }
  out.close(start, expected);
}

/** A whole number of 64 bits becomes an integer, any other number a double. */
function writeNumber(out: ByteWriter, value: number): void {
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) {
    out.byte(0x18); // int_value
    out.varint(value);
  } else {
    out.byte(0x21); // double_value
    out.double(value);
  }
}

function writeObject(out: ByteWriter, value: object): void {
  if (value instanceof Uint8Array) {
    out.byte(0x3a); // bytes_value
    out.raw(value);
    return;
  }
  out.byte(Array.isArray(value) ? 0x2a : 0x32); // array_value, kvlist_value
  const start = out.open(SHORT);
  if (Array.isArray(value)) {
    for (const item of value) {
      out.byte(0x0a); // values
      writeAnyValue(out, item, typeof item === "string" ? fieldSize(item) : SHORT);
    }
  } else {
    writeKeyValues(out, 0x0a, { ...value });
  }
  out.close(start, SHORT);
}

/** Bytes of a field with an ASCII text: tag, length, text. */
function fieldSize(text: string): number {
  return 1 + varintSize(text.length) + text.length;
}
