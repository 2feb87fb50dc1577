import { AbortedRecords } from "./aborted-records.ts";
import type { AbortedTransaction, Header, RecordsBatch } from "./kafka-library.ts";

/** One record of a topic, as its bytes are. */
export interface TopicRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** In ms since 1970, as the producer or the broker stamped it. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
}

/** Records that were read at once, and where to read on. */
export interface RecordChunk {
  readonly records: readonly TopicRecord[];
  /** The offset after the last one, of records without data too (those that end a transaction). */
  readonly next: number;
  /** Where the log ended when it was read; `undefined`: where it did before. */
  readonly end: number | undefined;
  readonly bytes: number;
}

const CONTROL = 0x20;
/** The broker's time holds for the whole batch; those of the producer are left in its records. */
const APPEND_TIME = 0x08;

/**
 * The records of fetched batches from an offset on. A broker answers with whole batches, so the first
 * may begin earlier.
 *
 * @param aborted transactions whose records are not to be seen.
 */
export function readBatches(
  topic: string,
  partition: number,
  from: number,
  end: number,
  batches: readonly RecordsBatch[],
  aborted: readonly AbortedTransaction[] = [],
): RecordChunk {
  const dropped = new AbortedRecords(aborted);
  const records: TopicRecord[] = [];
  let next = from;
  let bytes = 0;
  for (const batch of batches) {
    const base = Number(batch.firstOffset);
    const first = Number(batch.firstTimestamp);
    const appendedMs =
      (batch.attributes & APPEND_TIME) === 0 ? undefined : Number(batch.maxTimestamp);
    next = Math.max(next, base + batch.lastOffsetDelta + 1);
    if (dropped.has(batch) || (batch.attributes & CONTROL) !== 0) continue;
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = base + offsetDelta;
      if (offset < from) continue;
      const timestampMs = appendedMs ?? first + Number(timestampDelta);
      bytes += (key?.length ?? 0) + (value?.length ?? 0);
      records.push({ topic, partition, offset, timestampMs, key, value, headers });
    }
  }
  return { records, next, end, bytes };
}

/**
 * The record with this value, for keeping: what was fetched is a view of more, of a compressed batch
 * all that was in it, and would keep that in memory.
 */
export function detachedRecord(record: TopicRecord, value: Buffer | null): TopicRecord {
  const { headers, key } = record;
  return {
    ...record,
    key: copyOf(key),
    value: copyOf(value),
    headers: headers.map(([name, content]) => [copyOf(name), copyOf(content)] as const),
  };
}

function copyOf(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes);
}
