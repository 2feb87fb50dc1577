import { randomBytes } from "node:crypto";

/** A key of {@link keyedHash}: two words. */
export type HashKey = readonly [number, number];

/** A key that nobody outside of the process knows. */
export function randomKey(): HashKey {
  const bytes = randomBytes(8);
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}

/**
 * HalfSipHash-2-4, as 32 bits. Senders choose ids: who does not know the key can't choose many that share a hash. A start that is
 * random does not do that for hashes such as FNV or MurmurHash, of which some texts collide from any start.
 */
export function keyedHash(bytes: Uint8Array, [k0, k1]: HashKey): number {
  let v0 = k0;
  let v1 = k1;
  let v2 = 0x6c796765 ^ k0;
  let v3 = 0x74656462 ^ k1;
  const mix = (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      v0 = (v0 + v1) | 0;
      v1 = rotated(v1, 5) ^ v0;
      v0 = rotated(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotated(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotated(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotated(v1, 13) ^ v2;
      v2 = rotated(v2, 16);
    }
  };
  const { length } = bytes;
  for (let at = 0; at <= length; at += 4) {
    // The last word ends with the length.
    const word = at + 4 <= length ? wordAt(bytes, at) : wordAt(bytes, at) | (length << 24);
    v3 ^= word;
    mix(2);
    v0 ^= word;
  }
  v2 ^= 0xff;
  mix(4);
  return (v1 ^ v3) >>> 0;
}

/** Four bytes from a place, the lowest first; zeros where there are none. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
