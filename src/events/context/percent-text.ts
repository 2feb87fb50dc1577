import { isUtf8 } from "node:buffer";

/** Stands for itself; everything else is written as the bytes of its UTF-8. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;
const ENCODED = /^(?:[\x21-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*$/;

/**
 * A text in characters that every header and every environment takes, so that no line end or comma of
 * an id can be one of the carrier: percent-encoded as in URLs.
 */
export function encodeText(text: string): string {
  if (PLAIN.test(text)) return text;
  // By its bytes: half a surrogate pair, which no UTF-8 can hold, becomes U+FFFD and nothing throws.
  return encodeURIComponent(Buffer.from(text, "utf8").toString("utf8"));
}

/** The text that was encoded; `undefined` when it is no such text. */
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
