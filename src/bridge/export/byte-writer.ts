/** A longer text is copied sooner by the engine than character by character. */
const SHORT = 64;
/** Up to this length, in UTF-16 units, room for the longest UTF-8 is made unseen. */
const UNSEEN = 4096;

/** How many bytes a number up to 2^32 takes as a varint. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

/**
 * Protobuf's primitives, written into one buffer that grows.
 *
 * A message inside another has its length before it, which is not known yet: {@link open} leaves as
 * many bytes as the length that is expected takes, and {@link close} moves the message only where
 * it was another one. So there is one pass, and the bytes are the shortest there are.
 */
export class ByteWriter {
  /** Where the next byte goes; set it back to take back what came after. */
  at = 0;
  #bytes: Buffer;

  /** @param capacity bytes to begin with, from 1. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Bytes that it holds on to, written or not. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** What was written between two places; good until the next write. */
  written(from = 0, to = this.at): Buffer {
    return this.#bytes.subarray(from, to);
  }

  byte(value: number): void {
    if (this.at === this.#bytes.length) this.#grow(1);
    this.#bytes[this.at++] = value;
  }

  /** A whole number of 64 bits; a negative one as its two's complement. */
  varint(value: number): void {
    if (this.at + 10 > this.#bytes.length) this.#grow(10);
    const bytes = this.#bytes;
    let low = value >>> 0;
    if (low !== value) {
      let high = Math.floor(value / 2 ** 32) >>> 0;
      while (high !== 0) {
        bytes[this.at++] = (low & 0x7f) | 0x80;
        low = ((low >>> 7) | (high << 25)) >>> 0;
        high >>>= 7;
      }
    }
    while (low > 0x7f) {
      bytes[this.at++] = (low & 0x7f) | 0x80;
      low >>>= 7;
    }
    bytes[this.at++] = low;
  }

  fixed32(value: number): void {
    if (this.at + 4 > this.#bytes.length) this.#grow(4);
    const bytes = this.#bytes;
    bytes[this.at++] = value & 0xff;
    bytes[this.at++] = (value >>> 8) & 0xff;
    bytes[this.at++] = (value >>> 16) & 0xff;
    bytes[this.at++] = value >>> 24;
  }

  double(value: number): void {
    if (this.at + 8 > this.#bytes.length) this.#grow(8);
    this.at = this.#bytes.writeDoubleLE(value, this.at);
  }

  /** Bytes after their length. */
  raw(value: Uint8Array): void {
    this.varint(value.length);
    this.copy(value);
  }

  /** Bytes as they are. */
  copy(value: Uint8Array): void {
    if (this.at + value.length > this.#bytes.length) this.#grow(value.length);
    this.#bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Text in UTF-8 after its length; half of a surrogate pair becomes U+FFFD. */
  text(value: string): void {
    const { length } = value;
    if (length <= SHORT && this.#shortAscii(value)) return;
    const start = this.open(length);
    const most = length <= UNSEEN ? 3 * length : Buffer.byteLength(value);
    if (this.at + most > this.#bytes.length) this.#grow(most);
    this.at += this.#bytes.write(value, this.at, "utf8");
    this.close(start, length);
  }

  /** An id in hexadecimal digits, as bytes after their length. */
  id(hex: string): void {
    const count = hex.length >>> 1;
    this.varint(count);
    if (this.at + count > this.#bytes.length) this.#grow(count);
    const bytes = this.#bytes;
    for (let n = 0; n < 2 * count; n += 2) {
      bytes[this.at++] = (digit(hex.charCodeAt(n)) << 4) | digit(hex.charCodeAt(n + 1));
    }
  }

  /**
   * Begins a message inside this one.
   *
   * @param expected how long it will likely be; only how many bytes that takes as a varint counts.
   * @returns where it begins, for {@link close}.
   */
  open(expected: number): number {
    const size = varintSize(expected);
    if (this.at + size > this.#bytes.length) this.#grow(size);
    this.at += size;
    return this.at;
  }

  /** Ends the message that began at `start`, with the same `expected`. */
  close(start: number, expected: number): void {
    const length = this.at - start;
    if (length < 0x80 && expected < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    const size = varintSize(expected);
    const needed = varintSize(length);
    // Before going back: growing keeps only what stands before the place it is asked at.
    if (this.at + 10 > this.#bytes.length) this.#grow(10);
    if (needed !== size) this.#bytes.copyWithin(start - size + needed, start, this.at);
    this.at = start - size;
    this.varint(length);
    this.at += length;
  }

  /** @returns false where the text is not ASCII: then nothing is written. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    if (this.at + length >= this.#bytes.length) this.#grow(length + 1);
    const bytes = this.#bytes;
    const from = this.at + 1;
    for (let n = 0; n < length; n++) {
      const code = value.charCodeAt(n);
      if (code > 0x7f) return false;
      bytes[from + n] = code;
    }
    bytes[this.at] = length;
    this.at = from + length;
    return true;
  }

  #grow(needed: number): void {
    const capacity = Math.max(2 * this.#bytes.length, this.at + needed);
    const bytes = Buffer.allocUnsafeSlow(capacity);
    bytes.set(this.#bytes.subarray(0, this.at));
    this.#bytes = bytes;
  }
}

/** Of a hexadecimal digit: letters have bit 6, and their low bits count from 1. */
function digit(code: number): number {
  return (code & 0xf) + 9 * (code >> 6);
}
