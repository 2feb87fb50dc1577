/** Above this length, V8's own copy is faster than a loop over characters. */
const SHORT = 64;
/** Up to this length in UTF-16 units, space for the longest UTF-8 is reserved without measuring. */
const UNSEEN = 4096;

/** Length of a number up to 2^32 as a varint. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

/**
 * Writes protobuf primitives into one growing buffer.
 *
 * The length of a nested message comes before it, and is not known yet. {@link open} reserves space for the
 * expected length, and {@link close} moves the message only if the length needs another size. This takes one
 * pass, and gives the shortest encoding.
 */
export class ByteWriter {
  /** Index of the next byte. Set it back to remove the bytes after it. */
  at = 0;
  #bytes: Buffer;

  /** @param capacity initial size in bytes, from 1. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Allocated bytes. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** The bytes between two indexes. Valid until the next write. */
  written(from = 0, to = this.at): Buffer {
    return this.#bytes.subarray(from, to);
  }

  byte(value: number): void {
    if (this.at === this.#bytes.length) this.#grow(1);
    this.#bytes[this.at++] = value;
  }

  /** A 64-bit integer, negative ones as two's complement. */
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

  /** Bytes with their length before them. */
  raw(value: Uint8Array): void {
    this.varint(value.length);
    this.copy(value);
  }

  /** Bytes without a length. */
  copy(value: Uint8Array): void {
    if (this.at + value.length > this.#bytes.length) this.#grow(value.length);
    this.#bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Text in UTF-8 with its length. A lone surrogate becomes U+FFFD. */
  text(value: string): void {
    const { length } = value;
    if (length <= SHORT && this.#shortAscii(value)) return;
    const start = this.open(length);
    const most = length <= UNSEEN ? 3 * length : Buffer.byteLength(value);
    if (this.at + most > this.#bytes.length) this.#grow(most);
    this.at += this.#bytes.write(value, this.at, "utf8");
    this.close(start, length);
  }

  /** A hexadecimal ID, as bytes with their length. */
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
   * Begins a nested message.
   *
   * @param expected length of the message. Only the size of its varint matters.
   * @returns the start of the message, for {@link close}.
   */
  open(expected: number): number {
    const size = varintSize(expected);
    if (this.at + size > this.#bytes.length) this.#grow(size);
    this.at += size;
    return this.at;
  }

  /** Ends the message at `start`. `expected` must be the same as for {@link open}. */
  close(start: number, expected: number): void {
    const length = this.at - start;
    if (length < 0x80 && expected < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    const size = varintSize(expected);
    const needed = varintSize(length);
    // Before `at` is set back, since growing copies only the bytes before it.
    if (this.at + 10 > this.#bytes.length) this.#grow(10);
    if (needed !== size) this.#bytes.copyWithin(start - size + needed, start, this.at);
    this.at = start - size;
    this.varint(length);
    this.at += length;
  }

  /** @returns false, without writing, if the text is not ASCII. */
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

/** The value of a hexadecimal digit. Letters have bit 6, and their low bits count from 1. */
function digit(code: number): number {
  return (code & 0xf) + 9 * (code >> 6);
}
