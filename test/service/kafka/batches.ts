import type { ClientAlgorithms } from "../../../src/service/kafka/decompress.ts";
import { decodeBatches } from "../../../src/service/kafka/record-batch.ts";

export interface TestRecord {
  readonly key?: Buffer | null;
  readonly value?: Buffer | null;
  readonly headers?: readonly (readonly [Buffer, Buffer | null])[];
  readonly delta?: number;
  readonly timestampDelta?: number;
}

export interface Codec {
  readonly number: number;
  readonly compress: (data: Buffer) => Buffer;
}

export interface TestBatch {
  readonly base?: number;
  readonly records: readonly TestRecord[];
  /** What the records are compressed with. */
  readonly codec?: Codec | undefined;
  readonly last?: number;
  readonly magic?: number;
  readonly count?: number;
}

/** A batch as brokers store it. */
export function encodeBatch(batch: TestBatch): Buffer {
  const { base = 0, codec, count = batch.records.length, last = count - 1, magic = 2 } = batch;
  const plain = Buffer.concat(batch.records.map(encodeRecord));
  const content = codec === undefined ? plain : codec.compress(plain);
  const head = Buffer.alloc(61);
  head.writeBigInt64BE(BigInt(base), 0);
  head.writeInt32BE(49 + content.length, 8);
  head.writeInt8(magic, 16);
  head.writeInt16BE(codec?.number ?? 0, 21);
  head.writeInt32BE(last, 23);
  head.writeBigInt64BE(1_000n, 27);
  head.writeBigInt64BE(2_000n, 35);
  head.writeBigInt64BE(-1n, 43);
  head.writeInt32BE(count, 57);
  return Buffer.concat([head, content]);
}

function encodeRecord(record: TestRecord, index: number): Buffer {
  const { delta = index, headers = [], key = null, timestampDelta = 0, value = null } = record;
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(timestampDelta),
    varint(delta),
    bytes(key),
    bytes(value),
    varint(headers.length),
    ...headers.flatMap(([name, content]) => [bytes(name), bytes(content)]),
  ]);
  return Buffer.concat([varint(body.length), body]);
}

function bytes(data: Buffer | null): Buffer {
  return data === null ? varint(-1) : Buffer.concat([varint(data.length), data]);
}

/** Zigzag, of up to 52 bits. */
export function varint(value: number): Buffer {
  let left = BigInt(value) < 0n ? -2n * BigInt(value) - 1n : 2n * BigInt(value);
  const out: number[] = [];
  do {
    const byte = Number(left & 0x7fn);
    left >>= 7n;
    out.push(left > 0n ? byte | 0x80 : byte);
  } while (left > 0n);
  return Buffer.from(out);
}

/** Decodes with much room unless it is told otherwise. */
export function decode(
  section: Buffer,
  options: {
    readonly from?: number;
    readonly maxRecordBytes?: number;
    readonly budget?: { bytes: number };
    readonly client?: ClientAlgorithms;
  } = {},
) {
  const { budget = { bytes: 64 * 1024 * 1024 }, client, from = 0, maxRecordBytes = 1e6 } = options;
  return decodeBatches(section, { budget, client, from, maxRecordBytes });
}
