import type {
  AbortedTransaction,
  CutValue,
  Header,
  RecordsBatch,
  TopicPartitions,
} from "./kafka-library.ts";

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Name in reports and keys, such as `events/3`. Topic names have no slash. */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** A flat list. */
export function eachPartition(all: readonly TopicPartitions[]): TopicPartition[] {
  return all.flatMap(({ topic, partitions }) =>
    partitions.map((partition) => ({ topic, partition })),
  );
}

/** Grouped by topic, as the client requires. */
export function byTopic(all: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of all) {
    const partitions = topics.get(topic);
    if (partitions === undefined) topics.set(topic, [partition]);
    else partitions.push(partition);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}

/** One record of a topic as bytes. */
export interface TopicRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Time of the producer or the broker, in ms since 1970. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
  /** Set if the record was too large. Value, key and headers are then incomplete. */
  readonly cut?: CutValue;
}

/** Unreadable records that are skipped. */
export interface LostRecords {
  readonly first: number;
  readonly last: number;
  readonly reason: string;
  /** Size of their batch in the log. */
  readonly bytes: number;
}

/** Records of one fetch, and the next offset. */
export interface RecordChunk {
  readonly records: readonly TopicRecord[];
  readonly lost: readonly LostRecords[];
  /** The next offset, also after records without data (ends of transactions). */
  readonly next: number;
  /** End of the log for readers at the fetch. `undefined`: as before. */
  readonly end: number | undefined;
  /** End of the whole log. After `end` while a transaction is open. */
  readonly logEnd: number | undefined;
  /** There are no records between `next` and this offset: they were compacted away. */
  readonly emptyTo?: number;
  readonly bytes: number;
}

const CONTROL = 0x20;
/** The broker's time holds for the whole batch. Its records keep the producer's times. */
const APPEND_TIME = 0x08;

/** The fetched batches of one partition. */
export interface FetchedBatches extends TopicPartition {
  /** The requested offset. Brokers send complete batches, so the first may begin earlier. */
  readonly from: number;
  readonly end: number;
  readonly logEnd: number;
  readonly batches: readonly RecordsBatch[];
  /** Aborted transactions, whose records must be skipped. */
  readonly aborted?: readonly AbortedTransaction[];
}

/** The records of fetched batches from an offset on. */
export function readBatches(fetched: FetchedBatches): RecordChunk {
  const { aborted = [], batches, end, from, logEnd, partition, topic } = fetched;
  const dropped = new AbortedRecords(aborted);
  const records: TopicRecord[] = [];
  const lost: LostRecords[] = [];
  let next = from;
  let bytes = 0;
  for (const batch of batches) {
    const base = Number(batch.firstOffset);
    const first = Number(batch.firstTimestamp);
    const appendedMs =
      (batch.attributes & APPEND_TIME) === 0 ? undefined : Number(batch.maxTimestamp);
    const last = base + batch.lastOffsetDelta;
    next = Math.max(next, last + 1);
    if (dropped.has(batch) || (batch.attributes & CONTROL) !== 0) continue;
    if (batch.unreadable !== undefined && last >= from) {
      lost.push({ first: Math.max(base, from), last, ...batch.unreadable });
    }
    for (const { offsetDelta, timestampDelta, key, value, headers, cut } of batch.records) {
      const offset = base + offsetDelta;
      if (offset < from) continue;
      const timestampMs = appendedMs ?? first + Number(timestampDelta);
      bytes += (key?.length ?? 0) + (value?.length ?? 0);
      const record = { topic, partition, offset, timestampMs, key, value, headers };
      records.push(cut === undefined ? record : { ...record, cut });
    }
  }
  return { records, lost, next, end, logEnd, bytes };
}

/**
 * A copy of the record with this value. Fetched records are views, which would keep a whole (decompressed) batch in
 * memory.
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

const TRANSACTIONAL = 0x10;
/** Type in the key of the record that ends a transaction, after a version of two bytes. */
const ABORT = 0;
const KIND_AT = 2;

/**
 * Finds the records of aborted transactions, batch by batch in the order of the log. The client only skips those of a
 * transaction that is complete in one answer, and only the last one of its producer. It lets through records of longer
 * and of repeated transactions.
 */
export class AbortedRecords {
  /** Transactions that begin later, the last one first. */
  readonly #ahead: AbortedTransaction[];
  /** Producers with an open aborted transaction. */
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#ahead = aborted.toSorted((a, b) => Number(b.firstOffset - a.firstOffset));
  }

  /** Call it once for each batch, even for those without data. */
  has(batch: RecordsBatch): boolean {
    this.#beginUpTo(batch.firstOffset + BigInt(batch.lastOffsetDelta));
    if (this.#open.size === 0 || !this.#open.has(batch.producerId)) return false;
    if ((batch.attributes & CONTROL) === 0) return (batch.attributes & TRANSACTIONAL) !== 0;
    if (isAbort(batch)) this.#open.delete(batch.producerId);
    return false;
  }

  #beginUpTo(offset: bigint): void {
    for (;;) {
      const next = this.#ahead.at(-1);
      if (next === undefined || next.firstOffset > offset) return;
      this.#open.add(next.producerId);
      this.#ahead.pop();
    }
  }
}

function isAbort({ records }: RecordsBatch): boolean {
  const key = records[0]?.key;
  return key !== undefined && key !== null && key.length >= 4 && key.readInt16BE(KIND_AT) === ABORT;
}
