/** Object IDs of PostgreSQL's types. They are the same in every database. */
export const TYPES = { bytea: 17, int4: 23, int8: 20, text: 25, uuid: 2950 } as const;

const HEAD_BYTES = 20;

/**
 * An array in PostgreSQL's binary format. It needs no escaping, so a large text takes no more than its bytes.
 */
export function binaryArray(type: number, items: readonly (Uint8Array | null)[]): Buffer {
  let bytes = HEAD_BYTES;
  for (const item of items) bytes += 4 + (item?.length ?? 0);
  // An empty array has no dimensions.
  if (items.length === 0) bytes = 12;
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(items.length === 0 ? 0 : 1, 0);
  array.writeInt32BE(items.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  if (items.length === 0) return array;
  array.writeInt32BE(items.length, 12);
  array.writeInt32BE(1, 16);
  let at = HEAD_BYTES;
  for (const item of items) {
    at = array.writeInt32BE(item === null ? -1 : item.length, at);
    if (item === null) continue;
    array.set(item, at);
    at += item.length;
  }
  return array;
}

/** Texts, with `null` for a missing one. */
export function textArray(texts: readonly (string | null)[]): Buffer {
  return binaryArray(
    TYPES.text,
    texts.map((text) => (text === null ? null : Buffer.from(text))),
  );
}

export function int4Array(numbers: readonly number[]): Buffer {
  return binaryArray(
    TYPES.int4,
    numbers.map((number) => {
      const item = Buffer.allocUnsafe(4);
      item.writeInt32BE(number);
      return item;
    }),
  );
}

export function int8Array(numbers: readonly number[]): Buffer {
  return binaryArray(
    TYPES.int8,
    numbers.map((number) => {
      const item = Buffer.allocUnsafe(8);
      item.writeBigInt64BE(BigInt(number));
      return item;
    }),
  );
}
