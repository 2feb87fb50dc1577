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

/**
 * Mixed into the hashes of this process's tables, where it only changes positions. Senders choose their IDs. With a
 * known hash they could choose 100,000 IDs for one position, so that each look-up would pass all others.
 */
export const HASH_SALT = Math.trunc(Math.random() * 2 ** 32) | 0;

/** The four words of an ID, and the number of its owner. */
const WORDS = 5;
/** Default initial room, in IDs. */
const FIRST_ROOM = 1_024;

/**
 * A set of 128-bit IDs, each with the number of its owner, in the order they were added. It uses open addressing and
 * linear probing, and is at most two thirds full.
 *
 * IDs are stored as numbers. A map of 100,000 texts would take twice as long, for its keys, its look-ups and the
 * garbage collector.
 */
export class IdTable {
  size = 0;
  #room: number;
  #words: Int32Array;
  /** Position + 1, or 0, and bits of the hash above it. Its length is a power of two. */
  #index: Int32Array;

  /** @param room initial room in IDs. It doubles when it is full. Default 1,024. */
  constructor(room = FIRST_ROOM) {
    this.#room = Math.max(room, 1);
    this.#words = new Int32Array(this.#room * WORDS);
    this.#index = indexFor(this.#room);
  }

  /**
   * The position of an ID, from 0, or -1 if it is missing.
   *
   * @param hash from {@link hashOfId}, here and in `add`. Two tables can share it.
   */
  positionOf(id: IdWords, owner: number, hash: number): number {
    return ((this.#index[this.#find(id, owner, hash)] ?? 0) & this.#mask) - 1;
  }

  /** @returns false if the table already has the ID. */
  add(id: IdWords, owner: number, hash: number): boolean {
    if (this.size === this.#room) this.#grow();
    const at = this.#find(id, owner, hash);
    if (this.#index[at] !== 0) return false;
    const words = this.#words;
    const start = this.size * WORDS;
    words[start] = id.w0;
    words[start + 1] = id.w1;
    words[start + 2] = id.w2;
    words[start + 3] = id.w3;
    words[start + 4] = owner;
    this.size += 1;
    this.#index[at] = (hash & ~this.#mask) | this.size;
    return true;
  }

  clear(): void {
    this.size = 0;
    this.#index.fill(0);
  }

  /** Mask of the bits that give the position in the index, and of the bits of an entry that give position + 1. */
  get #mask(): number {
    return this.#index.length - 1;
  }

  /** The position of the ID in the index, or the one where it belongs. */
  #find(id: IdWords, owner: number, hash: number): number {
    const index = this.#index;
    const mask = index.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = index[at] ?? 0;
      if (entry === 0) return at;
      const isAlike = ((entry ^ hash) & ~mask) === 0;
      if (isAlike && this.#isAt((entry & mask) - 1, id, owner)) return at;
    }
  }

  #isAt(position: number, id: IdWords, owner: number): boolean {
    const words = this.#words;
    const start = position * WORDS;
    return (
      words[start] === id.w0 &&
      words[start + 1] === id.w1 &&
      words[start + 2] === id.w2 &&
      words[start + 3] === id.w3 &&
      words[start + 4] === owner
    );
  }

  #grow(): void {
    this.#room *= 2;
    const words = new Int32Array(this.#room * WORDS);
    words.set(this.#words);
    this.#words = words;
    const index = indexFor(this.#room);
    const mask = index.length - 1;
    for (let position = 0; position < this.size; position += 1) {
      const word = (n: number) => words[position * WORDS + n] ?? 0;
      const hash = hashOfId({ w0: word(0), w1: word(1), w2: word(2), w3: word(3) }, word(4));
      let at = hash & mask;
      while (index[at] !== 0) at = (at + 1) & mask;
      index[at] = (hash & ~mask) | (position + 1);
    }
    this.#index = index;
  }
}

function indexFor(room: number): Int32Array {
  return new Int32Array(2 ** Math.ceil(Math.log2(room * 1.5 + 1)));
}

/** Hashes all words, because IDs may count up in any of them. */
export function hashOfId(id: IdWords, owner: number): number {
  let hash = Math.imul(id.w0 ^ owner ^ HASH_SALT, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ id.w1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ id.w2, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16) ^ id.w3, 0x9e3779b1);
  return hash ^ (hash >>> 15);
}
