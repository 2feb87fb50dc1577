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

/** Its name in reports and as a key: `events/3`. A topic's name has no slash. */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** One by one. */
export function eachPartition(all: readonly TopicPartitions[]): TopicPartition[] {
  return all.flatMap(({ topic, partitions }) =>
    partitions.map((partition) => ({ topic, partition })),
  );
}

/** By topic, as the client asks for them. */
export function byTopic(all: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of all) {
    const partitions = topics.get(topic);
    if (partitions === undefined) topics.set(topic, [partition]);
    else partitions.push(partition);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}

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
  /** It was too large to be read: value, key and headers are there in part. */
  readonly cut?: CutValue;
}

/** Records that can't be read, and are skipped. */
export interface LostRecords {
  readonly first: number;
  readonly last: number;
  readonly reason: string;
  /** What the batch has in the log. */
  readonly bytes: number;
}

/** Records that were read at once, and where to read on. */
export interface RecordChunk {
  readonly records: readonly TopicRecord[];
  readonly lost: readonly LostRecords[];
  /** The offset after the last one, of records without data too (those that end a transaction). */
  readonly next: number;
  /** Where the log ended for readers when it was read; `undefined`: where it did before. */
  readonly end: number | undefined;
  /** Where it ended altogether; behind `end` while a transaction is open. */
  readonly logEnd: number | undefined;
  /** There are no records from `next` up to here: they were compacted away. */
  readonly emptyTo?: number;
  readonly bytes: number;
}

const CONTROL = 0x20;
/** The broker's time holds for the whole batch; those of the producer are left in its records. */
const APPEND_TIME = 0x08;

/** What was fetched of one partition. */
export interface FetchedBatches extends TopicPartition {
  /** The offset that was asked for. A broker answers with whole batches, so the first may begin earlier. */
  readonly from: number;
  readonly end: number;
  readonly logEnd: number;
  readonly batches: readonly RecordsBatch[];
  /** Transactions whose records are not to be seen. */
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

const TRANSACTIONAL = 0x10;
/** In the key of the record that ends a transaction, behind a version of two bytes. */
const ABORT = 0;
const KIND_AT = 2;

/**
 * Separates the records of aborted transactions from the others, batch by batch in the order of the log. The
 * client leaves out those of a transaction that is whole in one answer, and the last one of its producer
 * there; of what is longer, or was tried more than once, it lets records through.
 */
export class AbortedRecords {
  /** Those that begin further on, the last one first. */
  readonly #ahead: AbortedTransaction[];
  /** Producers whose aborted transaction is not over. */
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#ahead = aborted.toSorted((a, b) => Number(b.firstOffset - a.firstOffset));
  }

  /** Asked for each batch once, also for those without data. */
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
