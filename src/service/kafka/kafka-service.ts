import { setTimeout as sleep } from "node:timers/promises";
import { Backoff, within } from "../../bridge/door.ts";
import type { DecodeIssue } from "../../replay/door.ts";
import { DeadLetterRefusedError, DeadLetterTopic } from "./dead-letter-topic.ts";
import { TopicReaders } from "./fetcher.ts";
import { GroupMember, type Position } from "./group-member.ts";
import type { ClientOptions, KafkaConsumer, KafkaLibrary } from "./kafka-library.ts";
import { isTopicRefused, kafkaMessage } from "./kafka-library.ts";
import { EARLIEST, LATEST, LogEnds, logOffsets } from "./log-offsets.ts";
import { type LineTaker, PartitionProcessor, type Reject } from "./partition-processor.ts";
import type { RecordRules } from "./record-lines.ts";
import { startPosition } from "./start-position.ts";
import type { TopicRecord } from "./topic-record.ts";
import { partitionName, type TopicPartition } from "./topic-record.ts";
import { TopicWatch } from "./topic-watch.ts";

/** Options of a worker. */
export interface KafkaServiceOptions {
  readonly client: ClientOptions;
  readonly group: string;
  /** ID of a static member, which keeps its partitions if it returns within the session timeout. */
  readonly instance: string | undefined;
  readonly topics: readonly string[];
  /** Topic for unreadable records. `undefined`: they are only counted and reported. */
  readonly deadLetterTopic: string | undefined;
  /** Number of records before the committed offset that are read again to rebuild state. */
  readonly lookback: number;
  /** Start of partitions without a commit: the end of the log if true, else its beginning. */
  readonly fromEnd: boolean;
  readonly rules: RecordRules;
  /** Largest record with its key and headers, in bytes. Larger ones become dead letters. */
  readonly maxRecordBytes: number;
  /** In ms. */
  readonly sessionTimeoutMs: number;
  /** Time limit to store pending results when a partition is released, in ms. */
  readonly graceMs: number;
  /** @param name name of the partition. @param from the committed offset. */
  readonly makeProcessor: (name: string, from: number, reject: Reject) => LineTaker;
  readonly onError: (error: unknown, where: string) => void;
  /** Called with news about assigned and released partitions. */
  readonly onNotice: (text: string) => void;
}

/** State of one partition. */
export interface PartitionFigures extends TopicPartition {
  readonly committed: number;
  /** Records of the log that were not played yet. `undefined`: unknown. */
  readonly behind: number | undefined;
  /** Time without progress in ms, although records wait and the stores accept results. */
  readonly stuckMs: number;
  readonly processor: LineTaker["figures"];
}

/** Interval of commits, in ms. */
const COMMIT_MS = 1000;

interface Held extends TopicPartition {
  processor: PartitionProcessor | undefined;
  /** Whether it belongs to another member now. */
  gone: boolean;
  committed: number;
}

/**
 * One worker: a member of a consumer group. It plays each of its partitions in a log processor of its own, and commits
 * an offset when everything before it is stored.
 */
export class KafkaService {
  readonly #options: KafkaServiceOptions;
  readonly #reader: KafkaConsumer;
  readonly #readers: TopicReaders;
  readonly #watch: TopicWatch;
  readonly #deadLetters: DeadLetterTopic | undefined;
  readonly #member: GroupMember;
  readonly #held = new Map<string, Held>();
  readonly #stopping = new AbortController();
  readonly #opening = new Set<Promise<void>>();
  readonly #ends: LogEnds;
  #rejected = 0;
  #recordsLost = 0;
  #ticking: Promise<void> = Promise.resolve();

  constructor(library: KafkaLibrary, options: KafkaServiceOptions) {
    this.#options = options;
    const { client, group, instance, deadLetterTopic, sessionTimeoutMs, graceMs } = options;
    const report = (error: unknown, where: string) => {
      if (!this.#stopping.signal.aborted) options.onError(new Error(kafkaMessage(error)), where);
    };
    // Member and readers report a missing topic before the watch finds it.
    const troubled = (error: unknown, where: string) => {
      this.#watch.doubt();
      report(error, where);
    };
    const reader = () => new library.Consumer({ ...client, groupId: group });
    this.#reader = reader();
    this.#reader.on("error", (error) => report(error, "reader"));
    this.#watch = new TopicWatch(this.#reader, options.topics, report);
    const decoding = {
      maxRecordBytes: options.maxRecordBytes,
      client: library.compressionsAlgorithms,
    };
    this.#readers = new TopicReaders(reader, decoding, troubled);
    this.#ends = new LogEnds(this.#reader, report);
    if (deadLetterTopic !== undefined) {
      const producer = new library.Producer(client);
      const where = `dead letter topic ${deadLetterTopic}`;
      const answer = () =>
        this.#reader.listOffsets({ topics: [deadLetterTopic], timestamp: LATEST });
      this.#deadLetters = new DeadLetterTopic(producer, deadLetterTopic, answer, (error) => {
        // A loss is reported even during a stop.
        if (error instanceof DeadLetterRefusedError) options.onError(error, where);
        else report(error, where);
      });
    }
    this.#member = new GroupMember(
      (made) => new library.Consumer(made),
      {
        ...client,
        groupId: group,
        ...(instance === undefined ? {} : { groupInstanceId: instance }),
      },
      {
        topics: options.topics,
        sessionTimeoutMs,
        // A member releases its partitions within the grace time, then it must join.
        rebalanceTimeoutMs: sessionTimeoutMs + graceMs,
      },
      {
        release: (kept, member) => this.#release(kept, member),
        assigned: (partitions) => this.#assigned(partitions),
        onError: troubled,
      },
    );
  }

  /**
   * Resolves when it is a member of its group. It works until {@link stop}.
   *
   * @throws (rejects) if a topic is missing, no broker can be reached, or it is stopped meanwhile.
   */
  async start(): Promise<void> {
    const { deadLetterTopic } = this.#options;
    await this.#watch.begin(deadLetterTopic === undefined ? [] : [deadLetterTopic]);
    await this.#member.join();
    this.#ticking = this.#tick();
  }

  /** Unreadable records and lines, without those that were already exported. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Dead letters in the dead-letter topic. */
  get deadLetters(): number {
    return this.#deadLetters?.sent ?? 0;
  }

  /** Dead letters that were cut because they were too large. */
  get deadLettersCut(): number {
    return this.#deadLetters?.cut ?? 0;
  }

  /** Dead letters that were dropped, even when cut. */
  get deadLettersLost(): number {
    return this.#deadLetters?.lost ?? 0;
  }

  /** Records of unreadable batches. They are not in the dead-letter topic. */
  get recordsLost(): number {
    return this.#recordsLost;
  }

  get partitions(): readonly PartitionFigures[] {
    return [...this.#held.values()].flatMap(({ topic, partition, committed, processor }) => {
      if (processor === undefined) return [];
      const { behind, figures, stuckMs } = processor;
      return [{ topic, partition, committed, behind, stuckMs, processor: figures }];
    });
  }

  /**
   * Stops: plays no more, stores pending results, commits, and leaves the group. Each step takes the grace time at
   * most, even if the brokers do not answer. Call it once, at any time.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const { graceMs } = this.#options;
    // Unavailable brokers must not delay it: records without a commit are read again.
    const answered = await within(graceMs, this.#ticking);
    const commit = async (positions: readonly Position[]) => {
      let committed = false;
      const work = this.#member.commit(positions).then((done) => {
        committed = done;
      });
      await within(graceMs, work);
      return committed;
    };
    await this.#handOver([...this.#held.values()], answered ? commit : undefined);
    await this.#member.leave();
    await this.#readers.close();
    await this.#reader.close(true);
    await Promise.all(this.#opening);
    await this.#deadLetters?.close();
  }

  /** Before a (re)join: settles, commits and closes the partitions that are not kept. */
  async #release(kept: ReadonlySet<string>, member: boolean): Promise<void> {
    const going = [...this.#held.values()].filter((held) => !kept.has(partitionName(held)));
    if (going.length === 0) return;
    const lost = member ? "released" : "lost";
    this.#options.onNotice(`${lost}: ${going.map(partitionName).join(", ")}`);
    await this.#handOver(
      going,
      member ? (positions) => this.#member.commitLast(positions) : undefined,
    );
  }

  async #handOver(
    going: readonly Held[],
    commit: ((positions: readonly Position[]) => Promise<boolean>) | undefined,
  ): Promise<void> {
    for (const held of going) {
      held.gone = true;
      this.#held.delete(partitionName(held));
      if (held.processor !== undefined) this.#readers.remove(held.processor);
    }
    // Partitions that others already own must not delay the join.
    const graceMs = commit === undefined ? 0 : this.#options.graceMs;
    await Promise.all(going.map((held) => held.processor?.end(graceMs)));
    if (commit !== undefined) await this.#commit(going, commit);
  }

  #assigned(partitions: readonly TopicPartition[]): void {
    if (this.#stopping.signal.aborted) return;
    const names = new Set(partitions.map(partitionName));
    const gone = [...this.#held.values()].filter((held) => !names.has(partitionName(held)));
    if (gone.length > 0) this.#track(this.#handOver(gone, undefined));
    const added = partitions.filter((one) => !this.#held.has(partitionName(one)));
    if (added.length === 0) return;
    this.#options.onNotice(`assigned: ${added.map(partitionName).join(", ")}`);
    const held = added.map(({ topic, partition }): Held => {
      return { topic, partition, processor: undefined, gone: false, committed: -1 };
    });
    for (const one of held) this.#held.set(partitionName(one), one);
    // A topic that can't be opened delays no other.
    for (const of of ofEachTopic(held)) this.#track(this.#open(of));
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error) => this.#options.onError(error, "assignment"))
      .finally(() => this.#opening.delete(tracked));
    this.#opening.add(tracked);
  }

  async #open(held: readonly Held[]): Promise<void> {
    const backoff = new Backoff();
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const wanted = held.filter(({ gone }) => !gone);
      if (wanted.length === 0) return;
      try {
        await this.#openAll(wanted);
        return;
      } catch (error) {
        this.#options.onError(new Error(kafkaMessage(error)), "offsets of assigned partitions");
        await backoff.wait(signal);
      }
    }
  }

  async #openAll(wanted: readonly Held[]): Promise<void> {
    const [committed, first, end] = await Promise.all([
      this.#member.committed(wanted),
      logOffsets(this.#reader, wanted, EARLIEST),
      logOffsets(this.#reader, wanted, LATEST),
    ]);
    for (const held of wanted) {
      if (held.gone || this.#stopping.signal.aborted) continue;
      const name = partitionName(held);
      const log = { first: first(held), end: end(held) };
      const { from, start, missing } = startPosition(committed.get(name), log, this.#options);
      if (missing !== undefined) this.#options.onError(new Error(missing), name);
      // If the log was cut, the old commit must not count as ahead.
      held.committed = missing === undefined ? (committed.get(name) ?? -1) : -1;
      held.processor = this.#processorOf(held, from, start);
      this.#readers.add(held.processor);
    }
  }

  #processorOf(held: Held, from: number, start: number): PartitionProcessor {
    const { rules, makeProcessor, onError } = this.#options;
    const { topic, partition } = held;
    return new PartitionProcessor({
      topic,
      partition,
      from,
      start,
      rules,
      makeProcessor: (reject) => makeProcessor(partitionName(held), from, reject),
      toDeadLetter: (record, value, issues) => this.#toDeadLetter(record, value, issues),
      onLost: (records) => {
        this.#recordsLost += records;
      },
      onHungry: () => this.#readers.wake(topic),
      onReplaced: () => this.#beginAnew(held),
      onError,
    });
  }

  /** Starts over with a replaced log. State and open runs of the old log are lost. Finished results are stored. */
  #beginAnew(held: Held): void {
    const { processor } = held;
    held.processor = undefined;
    this.#track(
      (processor?.end(this.#options.graceMs) ?? Promise.resolve()).then(() => this.#open([held])),
    );
  }

  async #toDeadLetter(
    record: TopicRecord,
    value: Buffer | null,
    issues: readonly DecodeIssue[],
  ): Promise<void> {
    this.#rejected++;
    const [{ field, expected } = { field: "line", expected: "an event" }] = issues;
    const where = `${partitionName(record)}:${record.offset}`;
    this.#options.onError(new Error(`${field}: expected ${expected}`), where);
    await this.#deadLetters?.send({ record, value, issues });
  }

  /** Commits periodically. Failed commits are repeated the next time. */
  async #tick(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(COMMIT_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      for (const { processor } of this.#held.values()) processor?.tick();
      await this.#commit([...this.#held.values()], (positions) => this.#member.commit(positions));
      // The client is slow to report a missing topic. Commits continue meanwhile.
      void this.#lookAtTopics();
      const processors = [...this.#held.values()].map(({ processor }) => processor);
      void this.#ends.refresh(processors.filter((one) => one !== undefined));
    }
  }

  async #lookAtTopics(): Promise<void> {
    if (!(await this.#watch.look())) return;
    const { there } = this.#watch;
    // Without any topic there is no reason for a rebalance.
    if (there.length > 0) this.#member.subscribe(there);
  }

  async #commit(
    all: readonly Held[],
    commit: (positions: readonly Position[]) => Promise<boolean>,
  ): Promise<void> {
    const ahead = all.flatMap((held) => {
      const stored = held.processor?.stored ?? -1;
      return stored > held.committed ? [{ held, stored }] : [];
    });
    if (ahead.length === 0) return;
    const positions = ahead.map(({ held: { topic, partition }, stored: offset }) => {
      return { topic, partition, offset };
    });
    try {
      if (!(await commit(positions))) return;
    } catch (error) {
      this.#options.onError(new Error(kafkaMessage(error)), "commit");
      const topics = ofEachTopic(ahead.map(({ held }) => held));
      if (topics.length < 2 || !isTopicRefused(error)) return;
      for (const of of topics) await this.#commit(of, commit);
      return;
    }
    for (const { held, stored } of ahead) held.committed = stored;
  }
}

function ofEachTopic(all: readonly Held[]): Held[][] {
  const topics = [...new Set(all.map(({ topic }) => topic))];
  return topics.map((wanted) => all.filter(({ topic }) => topic === wanted));
}
