import { hash as hashOf } from "node:crypto";
import type { RowAnchor } from "../audit-row.ts";
import type { SeenRow } from "./lately-seen.ts";

const KEY_BYTES = 16;
const HASH_BYTES = 32;

/** What a table takes for each of its rows, about. */
export const TABLE_ROW_BYTES = 68;

/**
 * Where a sealed segment's events have their rows. Names are known by 128 bits of their SHA-256, so
 * that a row costs the same whatever its ids are.
 */
export class EventTable {
  readonly #keys: Buffer;
  readonly #hashes: Buffer;
  readonly #ordinals: Float64Array;
  /** Number of a row, from 1, at the place that its key tells or behind it; 0 where there is none. */
  readonly #slots: Uint32Array;

  constructor(rows: readonly SeenRow[]) {
    this.#keys = Buffer.alloc(rows.length * KEY_BYTES);
    this.#hashes = Buffer.alloc(rows.length * HASH_BYTES);
    this.#ordinals = new Float64Array(rows.length);
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(rows.length * 1.5 + 1)));
    for (const [index, { name, place }] of rows.entries()) {
      const key = keyOf(name);
      this.#keys.set(key, index * KEY_BYTES);
      this.#hashes.write(place.hash, index * HASH_BYTES, "hex");
      this.#ordinals[index] = place.ordinal;
      this.#slots[this.#slotOf(key)] = index + 1;
    }
  }

  /** The place of the last row that the event of this name has in the segment. */
  placeOf(name: string): RowAnchor | undefined {
    const index = (this.#slots[this.#slotOf(keyOf(name))] ?? 0) - 1;
    const ordinal = this.#ordinals[index];
    if (ordinal === undefined) return undefined;
    const at = index * HASH_BYTES;
    return { ordinal, hash: this.#hashes.toString("hex", at, at + HASH_BYTES) };
  }

  /** The slot that has the key, or the free one where it belongs: one is always free. */
  #slotOf(key: Buffer): number {
    const mask = this.#slots.length - 1;
    let slot = key.readUInt32LE() & mask;
    for (;;) {
      const row = this.#slots[slot] ?? 0;
      const at = (row - 1) * KEY_BYTES;
      if (row === 0 || this.#keys.compare(key, 0, KEY_BYTES, at, at + KEY_BYTES) === 0) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

function keyOf(name: string): Buffer {
  return hashOf("sha256", name, "buffer").subarray(0, KEY_BYTES);
}
