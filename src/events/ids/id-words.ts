import { hash as digestOf } from "node:crypto";

/** An id of 16 bytes as four signed words of 32 bits. */
export interface IdWords {
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
}

/** The 16 bytes of a UUID; its words are big-endian. */
export interface UuidWords extends IdWords {
  /** Whether it has upper-case letters. */
  readonly capitals: boolean;
}

const read = { w0: 0, w1: 0, w2: 0, w3: 0, capitals: false };

/**
 * The words of a UUID of any version and case. `undefined` for any other text. It returns the same object each time,
 * and the next call overwrites it.
 */
export function readUuid(text: string): UuidWords | undefined {
  if (text.length !== 36) return undefined;
  if (text.charCodeAt(8) !== DASH || text.charCodeAt(13) !== DASH) return undefined;
  if (text.charCodeAt(18) !== DASH || text.charCodeAt(23) !== DASH) return undefined;
  seen = 0;
  read.w0 = (digits(text, 0) << 16) | digits(text, 4);
  read.w1 = (digits(text, 9) << 16) | digits(text, 14);
  read.w2 = (digits(text, 19) << 16) | digits(text, 24);
  read.w3 = (digits(text, 28) << 16) | digits(text, 32);
  if ((seen & OTHER) !== 0) return undefined;
  read.capitals = (seen & CAPITAL) !== 0;
  return read;
}

const DASH = 0x2d;
/** Added to the value of a digit: it was an upper-case letter, or not a digit. */
const CAPITAL = 16;
const OTHER = 32;
/** The added bits of all digits of one UUID. */
let seen = 0;

function digits(text: string, at: number): number {
  const a = digit(text.charCodeAt(at));
  const b = digit(text.charCodeAt(at + 1));
  const c = digit(text.charCodeAt(at + 2));
  const d = digit(text.charCodeAt(at + 3));
  seen |= a | b | c | d;
  return ((a & 15) << 12) | ((b & 15) << 8) | ((c & 15) << 4) | (d & 15);
}

function digit(code: number): number {
  return DIGITS[code] ?? OTHER;
}

const DIGITS = new Uint8Array(128).fill(OTHER);
for (let n = 0; n < 16; n++) {
  const text = n.toString(16);
  DIGITS[text.toUpperCase().charCodeAt(0)] = n | CAPITAL;
  DIGITS[text.charCodeAt(0)] = n;
}

/** 128 bits of a text's SHA-256. Different texts have different ones. */
export function hashedWords(text: string): IdWords {
  // As a text with one byte a character: a Buffer would cost as much as the hash.
  const digest = digestOf("sha256", text, "binary");
  return {
    w0: wordAt(digest, 0),
    w1: wordAt(digest, 4),
    w2: wordAt(digest, 8),
    w3: wordAt(digest, 12),
  };
}

function wordAt(digest: string, at: number): number {
  return (
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24)
  );
}
