import { isObject } from "./own-fields.ts";

/**
 * Bytes as base64: an array of bytes, and the forms that its JSON has, so that a recording reads the
 * same. `undefined` where there are none.
 */
export function base64Of(value: unknown): string | undefined {
  if (value instanceof Uint8Array) {
    const { buffer, byteLength, byteOffset } = value;
    return byteLength === 0 ? undefined : base64(Buffer.from(buffer, byteOffset, byteLength));
  }
  if (!isObject(value)) return undefined;
  // A recording has bytes in this form.
  if (typeof value.base64 === "string" && typeof value.type === "string") {
    return Object.keys(value).length === 2 && value.base64 !== "" ? value.base64 : undefined;
  }
  if (value.type === "Buffer") return isDense(value.data) ? written(value.data) : undefined;
  // `{"0":137,"1":80}`: its names are in order, or it is another object.
  return isByte(value["0"]) && !Array.isArray(value)
    ? written(Object.entries(value).map(([name, byte], at) => (name === String(at) ? byte : NaN)))
    : undefined;
}

/** Whether a list may be bytes: one with holes can be of any length. */
function isDense(data: unknown): data is readonly unknown[] {
  return Array.isArray(data) && data.length <= MOST_LISTED;
}

/** Bytes that anybody would have as a list of numbers. */
const MOST_LISTED = 16 * 1024 * 1024;

function written(bytes: readonly unknown[]): string | undefined {
  return bytes.length > 0 && bytes.every(isByte) ? base64(Buffer.from(bytes)) : undefined;
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64");
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
