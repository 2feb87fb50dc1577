import { types } from "node:util";
import { Base64, bytesSummary, type JsonNode } from "./json-nodes.ts";

/**
 * Bytes as JSON: `{"type":"Uint8Array","base64":"AAEC"}`, or only their length: `{"type":"Uint8Array","bytes":3}`.
 * Both forms can be read again, so a recorded value looks the same as live. A `Buffer` is also recognized in the form
 * of its `toJSON`.
 *
 * @param most longest base64 text. For a longer one, only the length is written.
 * @returns `undefined` for any other value.
 */
export function bytesNode(
  value: object,
  binary: "base64" | "summary",
  most: number,
): JsonNode | undefined {
  const type = typeOf(value);
  if (type === undefined) return writtenBytes(value, binary, most);
  const bytes = viewOf(value);
  return binary === "base64" ? new Base64(type, bytes) : bytesSummary(type, bytes.length);
}

const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype);
const tagOf: ((this: unknown) => unknown) | undefined = Object.getOwnPropertyDescriptor(
  TYPED_ARRAY,
  Symbol.toStringTag,
)?.get;

/** The name of the class that holds the bytes. A subclass cannot change it. */
function typeOf(value: object): string | undefined {
  if (ArrayBuffer.isView(value)) {
    if (Buffer.isBuffer(value)) return "Buffer";
    const tag = tagOf?.call(value);
    return typeof tag === "string" ? tag : "DataView";
  }
  if (!types.isAnyArrayBuffer(value)) return undefined;
  return types.isSharedArrayBuffer(value) ? "SharedArrayBuffer" : "ArrayBuffer";
}

function viewOf(value: object): Buffer {
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return types.isAnyArrayBuffer(value) ? Buffer.from(value) : Buffer.alloc(0);
}

/** Every result of {@link typeOf}. */
const TYPES: ReadonlySet<unknown> = new Set([
  ...["Buffer", "ArrayBuffer", "SharedArrayBuffer", "DataView"],
  ...["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array"],
  ...["Int32Array", "Uint32Array", "Float16Array", "Float32Array", "Float64Array"],
  ...["BigInt64Array", "BigUint64Array"],
]);

/** Entries of a `Buffer`'s `data` that are checked if not all are written. */
const LOOKED_AT = 64;

/** Bytes that are already in one of their JSON forms. */
export function writtenBytes(
  value: object,
  binary: "base64" | "summary",
  most: number,
): JsonNode | undefined {
  const type = plainField(value, "type");
  if (!TYPES.has(type) || typeof type !== "string") return undefined;
  const base64 = plainField(value, "base64");
  if (typeof base64 === "string" && hasTwoFields(value)) {
    // It is already in the right form.
    if (binary === "base64" && base64.length <= most) return undefined;
    return bytesSummary(type, decodedLength(base64));
  }
  const data = type === "Buffer" ? plainField(value, "data") : undefined;
  if (!Array.isArray(data) || !hasTwoFields(value)) return undefined;
  const list: readonly unknown[] = data;
  if (binary === "base64" && list.length <= most) {
    const bytes = list.filter(isByte);
    return bytes.length === list.length ? new Base64(type, Buffer.from(bytes)) : undefined;
  }
  for (let index = 0; index < Math.min(list.length, LOOKED_AT); index += 1) {
    if (!isByte(list[index])) return undefined;
  }
  return bytesSummary(type, list.length);
}

/** A field that is not a getter. */
function plainField(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function hasTwoFields(value: object): boolean {
  return Object.keys(value).length === 2;
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
