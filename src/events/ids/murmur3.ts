/**
 * MurmurHash3 x86_128, seed 0, continued from the state after one 16-byte block.
 *
 * Every ID under a run hashes the run's 16 bytes first. So the run stores the state after them, and each ID only
 * hashes the rest, which is cheaper than a random ID. The algorithm is public; the Python package `mmh3` gives the
 * same bytes.
 */
export interface MurmurState {
  h1: number;
  h2: number;
  h3: number;
  h4: number;
}

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

const rotl = (x: number, r: number): number => (x << r) | (x >>> (32 - r));

function fmix(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Mixes one block of four little-endian words into the state. */
export function mixBlock(s: MurmurState, k1: number, k2: number, k3: number, k4: number): void {
  s.h1 ^= Math.imul(rotl(Math.imul(k1, C1), 15), C2);
  s.h1 = (Math.imul((rotl(s.h1, 19) + s.h2) | 0, 5) + 0x561ccd1b) | 0;
  s.h2 ^= Math.imul(rotl(Math.imul(k2, C2), 16), C3);
  s.h2 = (Math.imul((rotl(s.h2, 17) + s.h3) | 0, 5) + 0x0bcaa747) | 0;
  s.h3 ^= Math.imul(rotl(Math.imul(k3, C3), 17), C4);
  s.h3 = (Math.imul((rotl(s.h3, 15) + s.h4) | 0, 5) + 0x96cd1c35) | 0;
  s.h4 ^= Math.imul(rotl(Math.imul(k4, C4), 18), C1);
  s.h4 = (Math.imul((rotl(s.h4, 13) + s.h1) | 0, 5) + 0x32ac3b17) | 0;
}

const scratch: MurmurState = { h1: 0, h2: 0, h3: 0, h4: 0 };

/**
 * Hashes `bytes[0, length)` after the 16 bytes of the state `from`.
 *
 * @returns a shared object with the first two words in `h1` and `h2`. Read them at once.
 */
export function finishFrom(from: MurmurState, bytes: Uint8Array, length: number): MurmurState {
  const s = scratch;
  s.h1 = from.h1;
  s.h2 = from.h2;
  s.h3 = from.h3;
  s.h4 = from.h4;
  let at = 0;
  for (; at + 16 <= length; at += 16) {
    mixBlock(s, word(bytes, at), word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12));
  }
  const rest = length - at;
  if (rest > 12) s.h4 ^= Math.imul(rotl(Math.imul(tail(bytes, at + 12, length), C4), 18), C1);
  if (rest > 8) s.h3 ^= Math.imul(rotl(Math.imul(tail(bytes, at + 8, length), C3), 17), C4);
  if (rest > 4) s.h2 ^= Math.imul(rotl(Math.imul(tail(bytes, at + 4, length), C2), 16), C3);
  if (rest > 0) s.h1 ^= Math.imul(rotl(Math.imul(tail(bytes, at, length), C1), 15), C2);
  const total = length + 16;
  s.h1 ^= total;
  s.h2 ^= total;
  s.h3 ^= total;
  s.h4 ^= total;
  spread(s);
  s.h1 = fmix(s.h1);
  s.h2 = fmix(s.h2);
  s.h3 = fmix(s.h3);
  s.h4 = fmix(s.h4);
  spread(s);
  return s;
}

function spread(s: MurmurState): void {
  s.h1 = (s.h1 + s.h2 + s.h3 + s.h4) | 0;
  s.h2 = (s.h2 + s.h1) | 0;
  s.h3 = (s.h3 + s.h1) | 0;
  s.h4 = (s.h4 + s.h1) | 0;
}

const byte = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;

const word = (bytes: Uint8Array, at: number): number =>
  byte(bytes, at) |
  (byte(bytes, at + 1) << 8) |
  (byte(bytes, at + 2) << 16) |
  (byte(bytes, at + 3) << 24);

function tail(bytes: Uint8Array, at: number, end: number): number {
  let value = byte(bytes, at);
  if (at + 1 < end) value |= byte(bytes, at + 1) << 8;
  if (at + 2 < end) value |= byte(bytes, at + 2) << 16;
  if (at + 3 < end) value |= byte(bytes, at + 3) << 24;
  return value;
}
