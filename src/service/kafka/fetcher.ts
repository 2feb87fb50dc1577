import { Backoff } from "../../bridge/door.ts";
import type { ClientAlgorithms } from "./decompress.ts";
import {
  type FetchedPartition,
  type FetchResponse,
  isProtocolError,
  type KafkaConsumer,
  type TopicMetadata,
} from "./kafka-library.ts";
import { leaveRecordsRaw } from "./raw-records.ts";
import { type Budget, decodeBatches } from "./record-batch.ts";
import {
  partitionName,
  type RecordChunk,
  readBatches,
  type TopicPartition,
} from "./topic-record.ts";

/** Receives the records of one partition. */
export interface FetchTarget extends TopicPartition {
  /** The next offset to read. */
  readonly next: number;
  /** Whether it accepts more records. */
  readonly hungry: boolean;
  /** Called after each read, without records if there were no new ones. */
  deliver(chunk: RecordChunk): void;
  /** The log no longer has `next`. Reading continues at `offset`. */
  moveTo(offset: number): void;
  /** The log was replaced. It is no longer read for this target. */
  replaced(): void;
}

/** How long a broker waits for new records, in ms. A target that becomes hungry meanwhile waits too. */
const POLL_MS = 250;
/** Maximum size of one partition, and of one answer, in bytes. */
const PARTITION_BYTES = 1024 * 1024;
const ANSWER_BYTES = 16 * PARTITION_BYTES;
/** Maximum memory to decode one answer, in bytes. The rest is fetched again. */
const DECODED_BYTES = 32 * 1024 * 1024;

/** Rules for decoding records. */
export interface DecodeRules {
  /** Largest record with its key and headers, in bytes. */
  readonly maxRecordBytes: number;
  readonly client: ClientAlgorithms | undefined;
}

const EARLIEST = -2n;

/**
 * Reads partitions of one topic from their leaders, by its own offsets, with one request at a time for each leader. It
 * joins no group: the caller decides who reads which partition.
 */
export class Fetcher {
  readonly #consumer: KafkaConsumer;
  readonly #topic: string;
  readonly #rules: DecodeRules;
  readonly #onError: (error: unknown, where: string) => void;
  readonly #targets = new Map<string, FetchTarget>();
  /** ID of the topic. A topic that was created again has another one. */
  #id: string | undefined;
  readonly #busy = new Set<number>();
  readonly #backoff = new Backoff();
  readonly #closing = new AbortController();
  #planning = false;
  #wokenAgain = false;

  /** @param consumer a client for this fetcher only. */
  constructor(
    consumer: KafkaConsumer,
    topic: string,
    rules: DecodeRules,
    onError: (error: unknown, where: string) => void,
  ) {
    this.#consumer = consumer;
    leaveRecordsRaw(consumer);
    this.#topic = topic;
    this.#rules = rules;
    this.#onError = onError;
    // The client only looks up brokers of tracked topics.
    consumer.topics.track(topic);
  }

  add(target: FetchTarget): void {
    this.#targets.set(partitionName(target), target);
    this.wake();
  }

  /** Removes a target. Its pending results are dropped. */
  remove(target: FetchTarget): void {
    const name = partitionName(target);
    if (this.#targets.get(name) === target) this.#targets.delete(name);
    // The next target may begin with another topic ID.
    if (this.#targets.size === 0) this.#id = undefined;
  }

  /** A target has become hungry. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    if (this.#planning) {
      this.#wokenAgain = true;
      return;
    }
    this.#planning = true;
    void this.#plan().finally(() => {
      this.#planning = false;
      if (!this.#wokenAgain) return;
      this.#wokenAgain = false;
      this.wake();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#targets.clear();
    // Pending results are dropped.
    await this.#consumer.close(true);
  }

  async #plan(): Promise<void> {
    const hungry = [...this.#targets.values()].filter((target) => target.hungry);
    if (hungry.length === 0) return;
    let metadata: TopicMetadata | undefined;
    try {
      const { topics } = await this.#consumer.metadata({ topics: [this.#topic] });
      metadata = topics.get(this.#topic);
    } catch (error) {
      await this.#failed(error, "metadata");
      this.#wokenAgain = true;
      return;
    }
    if (metadata !== undefined) this.#compareId(metadata.id);
    const left = hungry.filter((target) => this.#has(target));
    for (const [leader, targets] of byLeader(left, metadata)) {
      if (this.#busy.has(leader)) continue;
      this.#busy.add(leader);
      void this.#fetch(leader, targets, metadata?.id ?? "").finally(() => {
        this.#busy.delete(leader);
        this.wake();
      });
    }
  }

  async #fetch(node: number, targets: readonly FetchTarget[], topicId: string): Promise<void> {
    const asked = new Map(targets.map((target) => [partitionName(target), target.next]));
    let response: FetchResponse;
    try {
      response = await this.#consumer.fetch({
        node,
        maxWaitTime: POLL_MS,
        minBytes: 1,
        maxBytes: ANSWER_BYTES,
        topics: [{ topicId, partitions: targets.map(requestedPartition) }],
      });
    } catch (error) {
      if (isProtocolError(error, "OFFSET_OUT_OF_RANGE")) {
        await this.#findAgain(targets).catch((again) => this.#failed(again, "offsets"));
      } else {
        await this.#failed(error, `fetch from broker ${node}`);
      }
      return;
    }
    this.#backoff.reset();
    const fetched = this.#chunksOf(response, topicId, asked);
    for (const target of targets) {
      const name = partitionName(target);
      // The target was removed meanwhile.
      if (!this.#has(target) || asked.get(name) !== target.next) continue;
      if (fetched.later.has(name)) continue;
      // A broker leaves unchanged partitions out of its answer.
      target.deliver(fetched.chunks.get(name) ?? nothing(target.next));
    }
  }

  /** The log was cut, by its retention or by a loss of brokers. */
  async #findAgain(targets: readonly FetchTarget[]): Promise<void> {
    for (const target of targets) {
      const { topic, partition, next } = target;
      const where = { topics: [topic], partitions: { [topic]: [partition] } };
      const earliest = await this.#consumer.listOffsets({ ...where, timestamp: EARLIEST });
      const latest = await this.#consumer.listOffsets(where);
      const first = Number(earliest.get(topic)?.[partition] ?? next);
      const end = Number(latest.get(topic)?.[partition] ?? next);
      if ((next >= first && next <= end) || !this.#has(target)) continue;
      if (next > end) {
        this.#replaced(target, `it ends at ${end}, but ${next} is the next offset to read`);
        continue;
      }
      const message = `offsets ${next} to ${first - 1} are not in the log any more; reading goes on at ${first}`;
      this.#onError(new Error(message), partitionName(target));
      target.moveTo(first);
    }
  }

  #compareId(id: string): void {
    const known = this.#id ?? id;
    this.#id = id;
    if (known === id) return;
    for (const target of [...this.#targets.values()]) {
      this.#replaced(target, "the topic has another id");
    }
  }

  /** The offsets contain other records now, so the reader must start over. */
  #replaced(target: FetchTarget, how: string): void {
    this.#onError(new Error(`the log was cut or made anew: ${how}`), partitionName(target));
    this.remove(target);
    target.replaced();
  }

  #has(target: FetchTarget): boolean {
    return this.#targets.get(partitionName(target)) === target;
  }

  async #failed(error: unknown, where: string): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    this.#onError(error, where);
    await this.#backoff.wait(signal);
  }

  /** `later`: partitions that did not fit into the memory for one answer. */
  #chunksOf(
    { responses, throttleTimeMs = 0 }: FetchResponse,
    topicId: string,
    asked: ReadonlyMap<string, number>,
  ): { chunks: Map<string, RecordChunk>; later: Set<string> } {
    const chunks = new Map<string, RecordChunk>();
    const later = new Set<string>();
    const budget = { bytes: DECODED_BYTES };
    const answered = responses.filter((response) => response.topicId === topicId);
    const partitions = answered.flatMap((response) => response.partitions);
    // A full answer, or one of a throttling broker, may lack records.
    const empty = throttleTimeMs === 0 && !partitions.some(hasRecords);
    for (const each of partitions) {
      const { abortedTransactions, highWatermark, lastStableOffset, partitionIndex } = each;
      const name = partitionName({ topic: this.#topic, partition: partitionIndex });
      const from = asked.get(name);
      if (from === undefined) continue;
      if (budget.bytes <= 0 && hasRecords(each)) {
        later.add(name);
        continue;
      }
      const end = Number(lastStableOffset);
      const batches = this.#batchesOf(each, from, budget);
      const aborted = abortedTransactions ?? [];
      const chunk = readBatches({
        topic: this.#topic,
        partition: partitionIndex,
        from,
        end,
        logEnd: Number(highWatermark),
        batches,
        aborted,
      });
      chunks.set(name, empty ? { ...chunk, emptyTo: end } : chunk);
    }
    return { chunks, later };
  }

  #batchesOf({ raw, records }: FetchedPartition, from: number, budget: Budget) {
    if (raw === undefined) return records ?? [];
    return decodeBatches(raw, { ...this.#rules, from, budget });
  }
}

function hasRecords({ raw, records }: FetchedPartition): boolean {
  return (raw?.length ?? 0) > 0 || (records?.length ?? 0) > 0;
}

function byLeader(
  targets: readonly FetchTarget[],
  metadata: TopicMetadata | undefined,
): Map<number, FetchTarget[]> {
  const leaders = new Map<number, FetchTarget[]>();
  for (const target of targets) {
    // Without a leader the request fails and is retried.
    const leader = metadata?.partitions[target.partition]?.leader ?? -1;
    const led = leaders.get(leader);
    if (led === undefined) leaders.set(leader, [target]);
    else led.push(target);
  }
  return leaders;
}

function requestedPartition({ partition, next }: FetchTarget) {
  return {
    partition,
    fetchOffset: BigInt(next),
    // Unknown: the broker then skips the comparison.
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: PARTITION_BYTES,
  };
}

function nothing(next: number): RecordChunk {
  return { records: [], lost: [], next, end: undefined, logEnd: undefined, bytes: 0 };
}

/**
 * A reader for each topic. The client fetches metadata of all tracked topics at once, so one that is missing or
 * forbidden would hold up the others.
 */
export class TopicReaders {
  readonly #make: () => KafkaConsumer;
  readonly #rules: DecodeRules;
  readonly #onError: (error: unknown, where: string) => void;
  readonly #fetchers = new Map<string, Fetcher>();

  /** @param make creates a client for a reader. */
  constructor(
    make: () => KafkaConsumer,
    rules: DecodeRules,
    onError: (error: unknown, where: string) => void,
  ) {
    this.#make = make;
    this.#rules = rules;
    this.#onError = onError;
  }

  add(target: FetchTarget): void {
    this.#of(target.topic).add(target);
  }

  remove(target: FetchTarget): void {
    this.#fetchers.get(target.topic)?.remove(target);
  }

  /** A target of this topic has become hungry. */
  wake(topic: string): void {
    this.#fetchers.get(topic)?.wake();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#fetchers.values()].map((fetcher) => fetcher.close()));
  }

  #of(topic: string): Fetcher {
    const known = this.#fetchers.get(topic);
    if (known !== undefined) return known;
    const report = (error: unknown, where: string) => {
      // A partition's name contains the topic.
      this.#onError(error, where.startsWith(`${topic}/`) ? where : `${topic}: ${where}`);
    };
    const consumer = this.#make();
    consumer.on("error", (error) => report(error, "reader"));
    const fetcher = new Fetcher(consumer, topic, this.#rules, report);
    this.#fetchers.set(topic, fetcher);
    return fetcher;
  }
}
