import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Fields, isFields, listed } from "./otlp-spans.ts";

/** Most levels of lists and objects in an attribute of a protobuf message, as protobuf's own readers limit it. */
const DEEPEST_MESSAGE = 100;

/** How a field is read and written: its wire type, its name in OTLP/JSON, and its value. */
interface Field {
  readonly wire: WireType;
  readonly name: string;
  readonly read: (reader: BinaryReader, depth: number) => unknown;
  /** Writes a value of OTLP/JSON after the tag. `undefined`: the value has the wrong type and is left out. */
  readonly writer: (value: unknown, depth: number) => Write | undefined;
  /** Whether the message has a list of it. */
  readonly listed?: true;
}

type Write = (writer: BinaryWriter) => void;

/** By field number. */
type Message = Readonly<Record<number, Field>>;

const text = (name: string): Field => ({
  wire: WireType.LengthDelimited,
  name,
  read: (reader) => reader.string(),
  writer: (value) => (typeof value === "string" ? (to) => void to.string(value) : undefined),
});
const bytesText = (name: string, encoding: "hex" | "base64"): Field => ({
  wire: WireType.LengthDelimited,
  name,
  read: (reader) => Buffer.from(reader.bytes()).toString(encoding),
  writer: (value) =>
    typeof value === "string" ? (to) => void to.bytes(Buffer.from(value, encoding)) : undefined,
});
const hexText = (name: string) => bytesText(name, "hex");
const base64Text = (name: string) => bytesText(name, "base64");
const uint32 = (name: string): Field => ({
  wire: WireType.Varint,
  name,
  read: (reader) => reader.uint32(),
  writer: (value) => {
    const number = uint32In(value);
    return number === undefined ? undefined : (to) => void to.uint32(number);
  },
});
const int64 = (name: string): Field => ({
  wire: WireType.Varint,
  name,
  read: (reader) => String(reader.int64()),
  writer: (value) =>
    isWhole(value, /^-?\d{1,19}$/) ? (to) => void to.int64(String(value)) : undefined,
});
const bool = (name: string): Field => ({
  wire: WireType.Varint,
  name,
  read: (reader) => reader.bool(),
  writer: (value) => (typeof value === "boolean" ? (to) => void to.bool(value) : undefined),
});
const double = (name: string): Field => ({
  wire: WireType.Bit64,
  name,
  read: (reader) => jsonDouble(reader.double()),
  writer: (value) =>
    typeof value === "number" || typeof value === "string"
      ? (to) => void to.double(Number(value))
      : undefined,
});
const fixed64 = (name: string): Field => ({
  wire: WireType.Bit64,
  name,
  read: (reader) => String(reader.fixed64()),
  writer: (value) =>
    isWhole(value, /^\d{1,20}$/) ? (to) => void to.fixed64(String(value)) : undefined,
});
const fixed32 = (name: string): Field => ({
  wire: WireType.Bit32,
  name,
  read: (reader) => reader.fixed32(),
  writer: (value) => {
    const number = uint32In(value);
    return number === undefined ? undefined : (to) => void to.fixed32(number);
  },
});
const one = (name: string, message: Message): Field => ({
  wire: WireType.LengthDelimited,
  name,
  read: (reader, depth) => fieldsIn(reader.bytes(), message, depth + 1),
  writer: (value, depth) => {
    if (!isFields(value)) return undefined;
    return (to) => {
      to.fork();
      writeFields(to, value, message, depth + 1);
      to.join();
    };
  },
});
const list = (name: string, message: Message): Field => ({ ...one(name, message), listed: true });

/** Enumerations as texts, which some senders write. */
const ENUMERATION: ReadonlyMap<unknown, number> = new Map([
  ["SPAN_KIND_INTERNAL", 1],
  ["SPAN_KIND_SERVER", 2],
  ["SPAN_KIND_CLIENT", 3],
  ["SPAN_KIND_PRODUCER", 4],
  ["SPAN_KIND_CONSUMER", 5],
  ["STATUS_CODE_OK", 1],
  ["STATUS_CODE_ERROR", 2],
]);

function uint32In(value: unknown): number | undefined {
  const number = ENUMERATION.get(value) ?? value;
  return typeof number === "number" && number >>> 0 === number ? number : undefined;
}

/** Whether it is a whole number of this form, as a number or as text. */
function isWhole(value: unknown, form: RegExp): boolean {
  return (typeof value === "number" || typeof value === "string") && form.test(String(value));
}

// Field numbers: opentelemetry-proto 1.x, trace/v1/trace.proto, common/v1/common.proto and resource/v1/resource.proto.
const anyValue: Record<number, Field> = {
  1: text("stringValue"),
  2: bool("boolValue"),
  3: int64("intValue"),
  4: double("doubleValue"),
  7: base64Text("bytesValue"),
};
const keyValue: Message = { 1: text("key"), 2: one("value", anyValue) };
// A value may be a list or an object of values.
anyValue[5] = one("arrayValue", { 1: list("values", anyValue) });
anyValue[6] = one("kvlistValue", { 1: list("values", keyValue) });
const attributes = list("attributes", keyValue);
const dropped = uint32("droppedAttributesCount");
const event: Message = {
  1: fixed64("timeUnixNano"),
  2: text("name"),
  3: attributes,
  4: dropped,
};
const link: Message = {
  1: hexText("traceId"),
  2: hexText("spanId"),
  3: text("traceState"),
  4: attributes,
  5: dropped,
  6: fixed32("flags"),
};
const span: Message = {
  1: hexText("traceId"),
  2: hexText("spanId"),
  3: text("traceState"),
  4: hexText("parentSpanId"),
  5: text("name"),
  6: uint32("kind"),
  7: fixed64("startTimeUnixNano"),
  8: fixed64("endTimeUnixNano"),
  9: attributes,
  10: dropped,
  11: list("events", event),
  12: uint32("droppedEventsCount"),
  13: list("links", link),
  14: uint32("droppedLinksCount"),
  15: one("status", { 2: text("message"), 3: uint32("code") }),
  16: fixed32("flags"),
};
const scope: Message = { 1: text("name"), 2: text("version"), 3: attributes, 4: dropped };
const scopeSpans: Message = {
  1: one("scope", scope),
  2: list("spans", span),
  3: text("schemaUrl"),
};
const resourceSpans: Message = {
  1: one("resource", { 1: attributes, 2: dropped }),
  2: list("scopeSpans", scopeSpans),
  3: text("schemaUrl"),
};
const request: Message = { 1: list("resourceSpans", resourceSpans) };

/**
 * Reads an `ExportTraceServiceRequest` in protobuf. Unknown fields are skipped.
 *
 * @returns the request in the form of OTLP/JSON.
 * @throws RangeError or Error if the bytes are no protobuf, are cut, or have more than 100 levels.
 */
export function traceRequestOf(bytes: Uint8Array): Fields {
  return { resourceSpans: [], ...fieldsIn(bytes, request, 0) };
}

function fieldsIn(bytes: Uint8Array, message: Message, depth: number): Fields {
  if (depth > DEEPEST_MESSAGE) throw new RangeError(`more than ${DEEPEST_MESSAGE} levels`);
  const reader = new BinaryReader(bytes);
  const found: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = message[number];
    if (field === undefined || field.wire !== wire) {
      reader.skip(wire, number);
      continue;
    }
    const value = field.read(reader, depth);
    if (field.listed === undefined) found[field.name] = value;
    else {
      const values = found[field.name];
      if (Array.isArray(values)) values.push(value);
      else found[field.name] = [value];
    }
  }
  return found;
}

/**
 * Writes an `ExportTraceServiceRequest` in protobuf. Values of wrong types and unknown fields are left out.
 *
 * @param fields the request in the form of OTLP/JSON.
 * @throws RangeError if it has more than 100 levels; Error if a number does not fit into its 64 bits.
 */
export function traceRequestBytes(fields: Fields): Uint8Array {
  const writer = new BinaryWriter();
  writeFields(writer, fields, request, 0);
  return writer.finish();
}

function writeFields(to: BinaryWriter, fields: Fields, message: Message, depth: number): void {
  if (depth > DEEPEST_MESSAGE) throw new RangeError(`more than ${DEEPEST_MESSAGE} levels`);
  for (const [number, field] of Object.entries(message)) {
    const values = field.listed ? listed(fields, field.name) : [fields[field.name]];
    for (const value of values) {
      const write = field.writer(value, depth);
      if (write === undefined) continue;
      to.tag(Number(number), field.wire);
      write(to);
    }
  }
}

/** OTLP/JSON has NaN and Infinity as text. */
function jsonDouble(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Spans of a request that cannot be read. */
export interface Rejected {
  readonly spans: number;
  /** Why, for the first of them. */
  readonly reason: string;
}

/** An `ExportTraceServiceResponse` in protobuf. It is empty if all spans were taken. */
export function traceResponseBytes(rejected: Rejected | undefined): Uint8Array {
  const writer = new BinaryWriter();
  if (rejected === undefined) return writer.finish();
  return writer
    .tag(1, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.Varint)
    .int64(rejected.spans)
    .tag(2, WireType.LengthDelimited)
    .string(rejected.reason)
    .join()
    .finish();
}
