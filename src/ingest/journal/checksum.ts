import { crc32 } from "node:zlib";
import { lineText } from "../../storage/file-lines.ts";

const CHARS = 8;

/** A text behind its CRC-32, in hexadecimal, and a space. */
export function withChecksum(text: string): string {
  return `${checksum(text)} ${text}`;
}

/** The bytes behind a checksum, or `undefined` when it is not theirs. */
export function checked(bytes: Uint8Array): Uint8Array | undefined {
  const rest = bytes.subarray(CHARS + 1);
  return lineText(bytes.subarray(0, CHARS + 1)) === `${checksum(rest)} ` ? rest : undefined;
}

function checksum(of: string | Uint8Array): string {
  return crc32(of).toString(16).padStart(CHARS, "0");
}
