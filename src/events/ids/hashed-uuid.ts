import { hash } from "node:crypto";

const VERSION = "8";
/** The digits that say which layout of a UUID it is. */
const VARIANTS = "89ab";

/**
 * A UUID of version 8 made of the first 16 bytes of SHA-256 over a text: the same text gives the same
 * UUID, in any process.
 */
export function hashedUuid(text: string): string {
  const hex = hash("sha256", text, "hex");
  const variant = VARIANTS.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${VERSION}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
