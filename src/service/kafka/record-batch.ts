import { createHash } from "node:crypto";
import { BatchError, type ClientAlgorithms, decompressed } from "./decompress.ts";
import type { BatchRecord, CutValue, Header, RecordsBatch } from "./kafka-library.ts";

/** Maximum size of value, key and headers that a large record keeps, in bytes each. */
export const CUT_BYTES = 4096;
/** Maximum number of headers. A record with more counts as too large. */
const MOST_HEADERS = 10_000;
/** Approximate memory overhead of a record and of a header. */
const RECORD_BYTES = 250;
const HEADER_BYTES = 150;

export interface DecodeOptions {
  /** Records before it are skipped. */
  readonly from: number;
  /** Largest record with its key and headers, in bytes. Larger ones are cut. */
  readonly maxRecordBytes: number;
  /** Memory for decoding, in bytes. One record is always decoded. */
  readonly budget: Budget;
  readonly client: ClientAlgorithms | undefined;
}

/** Decreases with decoded records. Used up at 0. */
export interface Budget {
  bytes: number;
}

const HEAD = 61;
const LENGTH_END = 12;
const COMPRESSION = 0x07;

/**
 * The batches of a fetched section within the budget. The rest is fetched again. An unreadable batch has `unreadable`
 * and no records.
 */
export function decodeBatches(section: Buffer, options: DecodeOptions): RecordsBatch[] {
  const batches: RecordsBatch[] = [];
  let at = 0;
  while (at + HEAD <= section.length && (batches.length === 0 || options.budget.bytes > 0)) {
    const end = at + LENGTH_END + section.readInt32BE(at + 8);
    // The last batch may be incomplete.
    if (end < at + HEAD || end > section.length) break;
    for (const batch of decodeBatch(section.subarray(at, end), options)) batches.push(batch);
    at = end;
  }
  return batches;
}

function decodeBatch(data: Buffer, options: DecodeOptions): RecordsBatch[] {
  const batch = {
    firstOffset: data.readBigInt64BE(0),
    attributes: data.readInt16BE(21),
    lastOffsetDelta: data.readInt32BE(23),
    firstTimestamp: data.readBigInt64BE(27),
    maxTimestamp: data.readBigInt64BE(35),
    producerId: data.readBigInt64BE(43),
  };
  const last = batch.lastOffsetDelta;
  // Committed records are not lost, and need no decompression.
  if (Number(batch.firstOffset) + last < options.from) return [{ ...batch, records: [] }];
  const reader = new RecordReader(options, Number(batch.firstOffset));
  try {
    reader.read(content(data, options.client), data.readInt32BE(57), last);
  } catch (error) {
    const reason = error instanceof BatchError ? error.message : String(error);
    const rest = reader.passed + 1;
    if (rest > last) return [{ ...batch, records: reader.records }];
    const lost: RecordsBatch = {
      ...batch,
      firstOffset: batch.firstOffset + BigInt(rest),
      lastOffsetDelta: last - rest,
      records: [],
      unreadable: { reason, bytes: data.length },
    };
    if (rest === 0) return [lost];
    return [{ ...batch, lastOffsetDelta: reader.passed, records: reader.records }, lost];
  }
  return [
    { ...batch, lastOffsetDelta: reader.complete ? last : reader.passed, records: reader.records },
  ];
}

function content(data: Buffer, client: ClientAlgorithms | undefined): Buffer {
  const magic = data.readInt8(16);
  if (magic !== 2) throw new BatchError(`expected records of format 2, got ${magic}`);
  const algorithm = data.readInt16BE(21) & COMPRESSION;
  const records = data.subarray(HEAD);
  return algorithm === 0 ? records : decompressed(algorithm, records, client);
}

/** Reads the records of one batch. */
class RecordReader {
  readonly records: BatchRecord[] = [];
  /** Delta of the last record that was read or skipped. */
  passed = -1;
  /** Whether the whole batch was read. */
  complete = false;
  readonly #options: DecodeOptions;
  readonly #base: number;
  #data: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Whether kept bytes are copied: a view would keep all decompressed bytes in memory. */
  #copies = false;

  constructor(options: DecodeOptions, base: number) {
    this.#options = options;
    this.#base = base;
  }

  /**
   * @param last the highest delta of the batch.
   * @throws BatchError if the data are not valid records.
   */
  read(data: Buffer, count: number, last: number): void {
    const { budget, from, maxRecordBytes } = this.#options;
    this.#data = data;
    this.#copies = data.length > budget.bytes;
    for (let i = 0; i < count; i++) {
      if (budget.bytes <= 0 && this.records.length > 0) return;
      const length = this.#varint();
      const start = this.#at;
      const end = start + length;
      if (length < 0 || end > data.length) throw new BatchError("a record ends behind its batch");
      this.#at++;
      const timestampDelta = this.#bigVarint();
      const offsetDelta = this.#varint();
      if (offsetDelta <= this.passed || offsetDelta > last) {
        throw new BatchError(`a record has the offset ${this.#base + offsetDelta}`);
      }
      if (this.#base + offsetDelta >= from) {
        const whole = length <= maxRecordBytes;
        const record = { offsetDelta, timestampDelta, ...this.#fields(end, whole) };
        this.records.push(record);
        budget.bytes -= sizeOf(record);
      }
      this.#at = end;
      this.passed = offsetDelta;
    }
    this.complete = true;
  }

  #fields(end: number, small: boolean) {
    const key = this.#bytes(end);
    const value = this.#bytes(end);
    const count = this.#varint();
    const whole = small && count <= MOST_HEADERS;
    const headers = this.#headers(end, count, whole);
    if (whole) return { key: this.#kept(key), value: this.#kept(value), headers };
    const cut: CutValue = {
      bytes: value?.length ?? 0,
      sha256: createHash("sha256")
        .update(value ?? "")
        .digest("hex"),
      reason: small
        ? `at most ${MOST_HEADERS} headers, got ${count}`
        : `at most ${this.#options.maxRecordBytes} bytes with key and headers`,
    };
    const fits = key === null || key.length <= CUT_BYTES;
    return {
      key: fits ? this.#kept(key) : null,
      value: value === null ? null : Buffer.from(value.subarray(0, CUT_BYTES)),
      headers,
      cut,
    };
  }

  /** All headers. For a large record only the first small ones. */
  #headers(end: number, count: number, whole: boolean): Header[] {
    const headers: Header[] = [];
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const name = this.#bytes(end);
      const content = this.#bytes(end);
      bytes += (name?.length ?? 0) + (content?.length ?? 0);
      if (!whole && (bytes > CUT_BYTES || i >= CUT_BYTES)) break;
      headers.push([this.#kept(name), this.#kept(content)]);
    }
    return headers;
  }

  #kept(bytes: Buffer | null): Buffer | null {
    return this.#copies && bytes !== null ? Buffer.from(bytes) : bytes;
  }

  #bytes(end: number): Buffer | null {
    const length = this.#varint();
    if (length === -1) return null;
    const start = this.#at;
    if (length < 0 || start + length > end) throw new BatchError("a field ends behind its record");
    this.#at = start + length;
    return this.#data.subarray(start, this.#at);
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#data[this.#at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    throw new BatchError("a number is too long");
  }

  #bigVarint(): bigint {
    // Most numbers are small.
    if ((this.#data[this.#at] ?? 0) < 0x80) return BigInt(this.#varint());
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#data[this.#at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw new BatchError("a number is too long");
  }
}

function sizeOf({ key, value, headers }: BatchRecord): number {
  let bytes = RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, content] of headers) {
    bytes += HEADER_BYTES + (name?.length ?? 0) + (content?.length ?? 0);
  }
  return bytes;
}
