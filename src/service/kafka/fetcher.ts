import { setTimeout as sleep } from "node:timers/promises";
import { Backoff } from "../../otel/export/retry.ts";
import {
  type FetchResponse,
  isProtocolError,
  type KafkaConsumer,
  type TopicMetadata,
} from "./kafka-library.ts";
import {
  partitionName,
  type RecordChunk,
  readBatches,
  type TopicPartition,
} from "./topic-record.ts";

/** Takes the records of one partition. */
export interface FetchTarget extends TopicPartition {
  /** The offset to read next. */
  readonly next: number;
  /** Whether there is room for more. */
  readonly hungry: boolean;
  /** Given what was read; without records when there was nothing new. */
  deliver(chunk: RecordChunk): void;
  /** The log does not have `next` any more: reading goes on here, further on. */
  moveTo(offset: number): void;
  /** The log is not the one that was read until now: it is not read for this target any more. */
  replaced(): void;
}

/** How long a broker waits for something new, in ms. A target that gets hungry meanwhile waits too. */
const POLL_MS = 250;
/** Of one partition, and of one answer, in bytes. */
const PARTITION_BYTES = 1024 * 1024;
const ANSWER_BYTES = 16 * PARTITION_BYTES;

const EARLIEST = -2n;

/**
 * Reads partitions by offsets of its own, from their leaders, one request at a time from each. It is in
 * no group: who reads what is somebody else's business.
 */
export class Fetcher {
  readonly #consumer: KafkaConsumer;
  readonly #onError: (error: unknown, where: string) => void;
  readonly #targets = new Map<string, FetchTarget>();
  readonly #topics = new Set<string>();
  /** By topic: one that is made anew has another. */
  readonly #ids = new Map<string, string>();
  readonly #busy = new Set<number>();
  readonly #backoff = new Backoff();
  readonly #closing = new AbortController();
  #planning = false;
  #wokenAgain = false;

  /** @param consumer this one's alone. */
  constructor(consumer: KafkaConsumer, onError: (error: unknown, where: string) => void) {
    this.#consumer = consumer;
    this.#onError = onError;
  }

  add(target: FetchTarget): void {
    this.#targets.set(partitionName(target), target);
    // The client looks up brokers for the topics that it was told of.
    if (!this.#topics.has(target.topic)) this.#consumer.topics.track(target.topic);
    this.#topics.add(target.topic);
    this.wake();
  }

  /** What is on its way for it is dropped. */
  remove(target: FetchTarget): void {
    const name = partitionName(target);
    if (this.#targets.get(name) === target) this.#targets.delete(name);
    // Whoever comes next begins with the topic that is there then.
    if ([...this.#targets.values()].some(({ topic }) => topic === target.topic)) return;
    this.#ids.delete(target.topic);
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
    // What is on its way is dropped, if it ever comes.
    await this.#consumer.close(true);
  }

  async #plan(): Promise<void> {
    const hungry = [...this.#targets.values()].filter((target) => target.hungry);
    if (hungry.length === 0) return;
    let topics: ReadonlyMap<string, TopicMetadata>;
    try {
      const names = [...new Set(hungry.map(({ topic }) => topic))];
      ({ topics } = await this.#consumer.metadata({ topics: names }));
    } catch (error) {
      await this.#failed(error, "metadata");
      this.#wokenAgain = true;
      return;
    }
    this.#compareIds(topics);
    const left = hungry.filter((target) => this.#has(target));
    for (const [leader, targets] of byLeader(left, topics)) {
      if (this.#busy.has(leader)) continue;
      this.#busy.add(leader);
      void this.#fetch(leader, targets, topics).finally(() => {
        this.#busy.delete(leader);
        this.wake();
      });
    }
  }

  async #fetch(
    node: number,
    targets: readonly FetchTarget[],
    topics: ReadonlyMap<string, TopicMetadata>,
  ): Promise<void> {
    const asked = new Map(targets.map((target) => [partitionName(target), target.next]));
    let response: FetchResponse;
    try {
      response = await this.#consumer.fetch({
        node,
        maxWaitTime: POLL_MS,
        minBytes: 1,
        maxBytes: ANSWER_BYTES,
        topics: requested(targets, topics),
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
    const fetched = chunksOf(response, topics, asked);
    for (const target of targets) {
      const name = partitionName(target);
      // It was taken away meanwhile.
      if (!this.#has(target) || asked.get(name) !== target.next) continue;
      // A broker leaves out of its answer what has not changed.
      target.deliver(fetched.get(name) ?? nothing(target.next));
    }
  }

  /** The log was cut: by its retention, or by the loss of brokers. */
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
        this.#replaced(target, `it ends at ${end}, and ${next} was to be read next`);
        continue;
      }
      const message = `offsets ${next} to ${first - 1} are not in the log any more; reading goes on at ${first}`;
      this.#onError(new Error(message), partitionName(target));
      target.moveTo(first);
    }
  }

  #compareIds(topics: ReadonlyMap<string, TopicMetadata>): void {
    for (const [topic, { id }] of topics) {
      const known = this.#ids.get(topic) ?? id;
      this.#ids.set(topic, id);
      if (known === id) continue;
      for (const target of [...this.#targets.values()]) {
        if (target.topic === topic) this.#replaced(target, "the topic has another id");
      }
    }
  }

  /** What is at the same offsets now is something else: whoever reads on has to begin anew. */
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
    await sleep(this.#backoff.next(), undefined, { signal }).catch(() => {});
  }
}

function byLeader(
  targets: readonly FetchTarget[],
  topics: ReadonlyMap<string, TopicMetadata>,
): Map<number, FetchTarget[]> {
  const leaders = new Map<number, FetchTarget[]>();
  for (const target of targets) {
    // Without a leader the request fails, and is tried again.
    const leader = topics.get(target.topic)?.partitions[target.partition]?.leader ?? -1;
    const led = leaders.get(leader);
    if (led === undefined) leaders.set(leader, [target]);
    else led.push(target);
  }
  return leaders;
}

function requested(
  targets: readonly FetchTarget[],
  topics: ReadonlyMap<string, TopicMetadata>,
): { topicId: string; partitions: ReturnType<typeof requestedPartition>[] }[] {
  const wanted = new Map<string, ReturnType<typeof requestedPartition>[]>();
  for (const target of targets) {
    const id = topics.get(target.topic)?.id ?? "";
    const partitions = wanted.get(id);
    if (partitions === undefined) wanted.set(id, [requestedPartition(target)]);
    else partitions.push(requestedPartition(target));
  }
  return [...wanted].map(([topicId, partitions]) => ({ topicId, partitions }));
}

function requestedPartition({ partition, next }: FetchTarget) {
  return {
    partition,
    fetchOffset: BigInt(next),
    // Not known, so the broker does not compare them.
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: PARTITION_BYTES,
  };
}

function chunksOf(
  { responses }: FetchResponse,
  topics: ReadonlyMap<string, TopicMetadata>,
  asked: ReadonlyMap<string, number>,
): Map<string, RecordChunk> {
  const names = new Map([...topics].map(([name, { id }]) => [id, name]));
  const chunks = new Map<string, RecordChunk>();
  for (const { topicId, partitions } of responses) {
    const topic = names.get(topicId);
    if (topic === undefined) continue;
    for (const { abortedTransactions, lastStableOffset, partitionIndex, records } of partitions) {
      const partition = partitionIndex;
      const name = partitionName({ topic, partition });
      const from = asked.get(name);
      if (from === undefined) continue;
      const end = Number(lastStableOffset);
      const aborted = abortedTransactions ?? [];
      chunks.set(name, readBatches(topic, partition, from, end, records ?? [], aborted));
    }
  }
  return chunks;
}

function nothing(next: number): RecordChunk {
  return { records: [], next, end: undefined, bytes: 0 };
}

/**
 * A reader for each topic. The client answers for all topics that it was told of at once, so that one which
 * is gone, or which it may not read, would hold up the others.
 */
export class TopicReaders {
  readonly #make: () => KafkaConsumer;
  readonly #onError: (error: unknown, where: string) => void;
  readonly #fetchers = new Map<string, Fetcher>();

  /** @param make makes the client of one of them. */
  constructor(make: () => KafkaConsumer, onError: (error: unknown, where: string) => void) {
    this.#make = make;
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
    const tell = (error: unknown, where: string) => {
      // A partition's name has the topic's in it.
      this.#onError(error, where.startsWith(`${topic}/`) ? where : `${topic}: ${where}`);
    };
    const consumer = this.#make();
    consumer.on("error", (error) => tell(error, "reader"));
    const fetcher = new Fetcher(consumer, tell);
    this.#fetchers.set(topic, fetcher);
    return fetcher;
  }
}
