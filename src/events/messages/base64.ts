import { types } from "node:util";
import { isObject } from "./own-fields.ts";

/**
 * Bytes as base64: bytes of any class, or one of their forms in JSON, so that a recording gives the same. `undefined`
 * for any other value.
 */
export function base64Of(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteLength, byteOffset } = value;
    return base64(Buffer.from(buffer, byteOffset, byteLength));
  }
  if (types.isAnyArrayBuffer(value)) return base64(Buffer.from(value));
  // The form of bytes in a recording.
  if (typeof value.base64 === "string" && typeof value.type === "string") {
    return Object.keys(value).length === 2 && value.base64 !== "" ? value.base64 : undefined;
  }
  if (value.type === "Buffer") return isDense(value.data) ? written(value.data) : undefined;
  // `{"0":137,"1":80}`: the names of bytes are in order.
  return isByte(value["0"]) && !Array.isArray(value)
    ? written(Object.entries(value).map(([name, byte], at) => (name === String(at) ? byte : NaN)))
    : undefined;
}

export function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

/** Whether a list may be bytes. A list with holes may have any length. */
function isDense(data: unknown): data is readonly unknown[] {
  return Array.isArray(data) && data.length <= MOST_LISTED;
}

/** Most bytes in a list of numbers. */
const MOST_LISTED = 16 * 1024 * 1024;

function written(bytes: readonly unknown[]): string | undefined {
  return bytes.every(isByte) ? base64(Buffer.from(bytes)) : undefined;
}

function base64(bytes: Buffer): string | undefined {
  return bytes.length === 0 ? undefined : bytes.toString("base64");
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
