import { isUtf8 } from "node:buffer";

/** Characters that are not encoded. Others are written as their UTF-8 bytes. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;
const ENCODED = /^(?:[\x21-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*$/;

/**
 * A text with only characters that every header and every environment allows, percent-encoded as in URLs. So a line
 * end or comma in an ID cannot be taken for a part of the carrier.
 */
export function encodeText(text: string): string {
  if (PLAIN.test(text)) return text;
  // Through its bytes: half of a surrogate pair, which UTF-8 cannot express, becomes U+FFFD, and nothing throws.
  return encodeURIComponent(Buffer.from(text, "utf8").toString("utf8"));
}

/** The decoded text. `undefined` if it is not encoded in this way. */
export function decodeText(encoded: string): string | undefined {
  if (!ENCODED.test(encoded)) return undefined;
  if (!encoded.includes("%")) return encoded;
  const bytes = Buffer.from(
    encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  );
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}
