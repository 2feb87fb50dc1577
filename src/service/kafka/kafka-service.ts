import { setTimeout as sleep } from "node:timers/promises";
import type { DecodeIssue } from "../../dialects/dialect.ts";
import { Backoff } from "../../otel/service/backoff.ts";
import type { ClientOptions } from "./client-options.ts";
import { DeadLetters, LetterRefusedError } from "./dead-letters.ts";
import { Fetcher } from "./fetcher.ts";
import { GroupMember, type Position } from "./group-member.ts";
import { kafkaMessage } from "./kafka-error.ts";
import type { KafkaConsumer, KafkaLibrary } from "./kafka-library.ts";
import { type LineTaker, PartitionLane, type Reject } from "./partition-lane.ts";
import type { RecordRules } from "./record-lines.ts";
import { startOf } from "./start-position.ts";
import { byTopic, partitionName, type TopicPartition } from "./topic-partition.ts";
import type { TopicRecord } from "./topic-record.ts";

/** How a group's member reads, and what it does with what it reads. */
export interface KafkaServiceOptions {
  readonly client: ClientOptions;
  readonly group: string;
  /** Of a static member: it finds its partitions again when it is back within the session timeout. */
  readonly instance: string | undefined;
  readonly topics: readonly string[];
  /** Where what can't be read goes; `undefined`: nowhere, it is only counted and reported. */
  readonly deadLetterTopic: string | undefined;
  /** So many records before the committed offset are read again, to know what they told. */
  readonly lookback: number;
  /** Where nothing was committed: at the beginning of the log, or at its end. */
  readonly fromEnd: boolean;
  readonly rules: RecordRules;
  /** In ms. */
  readonly sessionTimeoutMs: number;
  /** How long what is on its way may take to be stored when a partition is handed over, in ms. */
  readonly graceMs: number;
  /** @param name of the partition. @param from the committed offset. */
  readonly makeLane: (name: string, from: number, reject: Reject) => LineTaker;
  readonly onError: (error: unknown, where: string) => void;
  /** Told what happens that is no trouble: partitions that come and go. */
  readonly onNotice: (text: string) => void;
}

/** How one partition stands. */
export interface PartitionFigures extends TopicPartition {
  readonly committed: number;
  /** Records of the log that were not played yet; `undefined`: not known yet. */
  readonly behind: number | undefined;
  readonly lane: LineTaker["figures"];
}

/** How often positions are committed, in ms. */
const COMMIT_MS = 1000;
/** How often it is looked whether a topic has more partitions, in ms. */
const GROWTH_MS = 60_000;

interface Held extends TopicPartition {
  lane: PartitionLane | undefined;
  /** It is another member's. */
  gone: boolean;
  committed: number;
}

/**
 * One worker: a member of a consumer group that plays each of its partitions in a lane of its own, and
 * commits an offset when everything before it is stored.
 */
export class KafkaService {
  readonly #options: KafkaServiceOptions;
  readonly #reader: KafkaConsumer;
  readonly #fetcher: Fetcher;
  readonly #letters: DeadLetters | undefined;
  readonly #member: GroupMember;
  readonly #held = new Map<string, Held>();
  readonly #stopping = new AbortController();
  readonly #opening = new Set<Promise<void>>();
  #partitions = "";
  #rejected = 0;
  #ticking: Promise<void> = Promise.resolve();

  constructor(library: KafkaLibrary, options: KafkaServiceOptions) {
    this.#options = options;
    const { client, group, instance, deadLetterTopic, sessionTimeoutMs, graceMs } = options;
    const tell = (error: unknown, where: string) => {
      if (!this.#stopping.signal.aborted) options.onError(new Error(kafkaMessage(error)), where);
    };
    this.#reader = new library.Consumer({ ...client, groupId: group });
    this.#reader.on("error", (error) => tell(error, "reader"));
    this.#fetcher = new Fetcher(this.#reader, tell);
    if (deadLetterTopic !== undefined) {
      const producer = new library.Producer(client);
      const where = `dead letter topic ${deadLetterTopic}`;
      this.#letters = new DeadLetters(producer, deadLetterTopic, (error) => {
        // A loss is no noise of a stop.
        if (error instanceof LetterRefusedError) options.onError(error, where);
        else tell(error, where);
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
        // A member that hands over takes the grace; then it has to join.
        rebalanceTimeoutMs: sessionTimeoutMs + graceMs,
      },
      {
        release: (kept, member) => this.#release(kept, member),
        assigned: (partitions) => this.#assigned(partitions),
        onError: tell,
      },
    );
  }

  /**
   * Resolves when it is a member of its group; it works until {@link stop}.
   *
   * @throws (rejects) when a topic is not there, no broker can be reached, or it is stopped meanwhile.
   */
  async start(): Promise<void> {
    await this.#checkTopics();
    await this.#member.join();
    this.#ticking = this.#tick();
  }

  /** Records and lines that could not be read, and were not muted. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Of them, those that the dead-letter topic has. */
  get deadLetters(): number {
    return this.#letters?.sent ?? 0;
  }

  /** Of them, those that it has only in part: the brokers refused the whole. */
  get deadLettersCut(): number {
    return this.#letters?.cut ?? 0;
  }

  /** Those that the brokers refused even when cut. */
  get deadLettersLost(): number {
    return this.#letters?.lost ?? 0;
  }

  get partitions(): readonly PartitionFigures[] {
    return [...this.#held.values()].flatMap(({ topic, partition, committed, lane }) => {
      if (lane === undefined) return [];
      return [{ topic, partition, committed, behind: lane.behind, lane: lane.figures }];
    });
  }

  /**
   * Plays no more, has stored what is done, commits, and leaves the group: each in the grace, whether or
   * not anybody answers. To be called once, at any time.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const { graceMs } = this.#options;
    // Brokers that do not answer hold it up no longer: what is not committed is read again.
    const answered = await atMost(
      graceMs,
      this.#ticking.then(() => true),
    );
    const commit = async (positions: readonly Position[]) =>
      (await atMost(graceMs, this.#member.commit(positions))) ?? false;
    await this.#handOver([...this.#held.values()], answered ? commit : undefined);
    await this.#member.leave();
    await this.#fetcher.close();
    await Promise.all(this.#opening);
    await this.#letters?.close();
  }

  async #checkTopics(): Promise<void> {
    const { topics, deadLetterTopic } = this.#options;
    const wanted = deadLetterTopic === undefined ? topics : [...topics, deadLetterTopic];
    for (const topic of wanted) {
      const { topics: found } = await this.#reader.metadata({ topics: [topic], forceUpdate: true });
      if (!found.has(topic)) throw new Error(`Unknown topic ${topic}.`);
    }
    this.#partitions = await this.#countPartitions();
  }

  async #countPartitions(): Promise<string> {
    const topics = [...this.#options.topics];
    const metadata = await this.#reader.metadata({ topics, forceUpdate: true });
    return topics.map((topic) => metadata.topics.get(topic)?.partitionsCount).join();
  }

  /** Before a (re)join: what is not kept is settled, committed and let go. */
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
      if (held.lane !== undefined) this.#fetcher.remove(held.lane);
    }
    // What the group has given to others must not hold up the join.
    const graceMs = commit === undefined ? 0 : this.#options.graceMs;
    await Promise.all(going.map((held) => held.lane?.end(graceMs)));
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
      return { topic, partition, lane: undefined, gone: false, committed: -1 };
    });
    for (const one of held) this.#held.set(partitionName(one), one);
    this.#track(this.#open(held));
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
        this.#options.onError(new Error(kafkaMessage(error)), "offsets of what was assigned");
        await sleep(backoff.next(), undefined, { signal }).catch(() => {});
      }
    }
  }

  async #openAll(wanted: readonly Held[]): Promise<void> {
    const [committed, first, end] = await Promise.all([
      this.#member.committed(wanted),
      this.#offsets(wanted, EARLIEST),
      this.#offsets(wanted, LATEST),
    ]);
    for (const held of wanted) {
      if (held.gone || this.#stopping.signal.aborted) continue;
      const name = partitionName(held);
      const log = { first: first(held), end: end(held) };
      const { from, start, missing } = startOf(committed.get(name), log, this.#options);
      if (missing !== undefined) this.#options.onError(new Error(missing), name);
      // Where the log was cut, what was committed is not to be compared with.
      held.committed = missing === undefined ? (committed.get(name) ?? -1) : -1;
      held.lane = this.#laneOf(held, from, start);
      this.#fetcher.add(held.lane);
    }
  }

  async #offsets(
    wanted: readonly TopicPartition[],
    timestamp: bigint,
  ): Promise<(of: TopicPartition) => number> {
    const topics = byTopic(wanted);
    const found = await this.#reader.listOffsets({
      topics: topics.map(({ topic }) => topic),
      partitions: Object.fromEntries(topics.map(({ topic, partitions }) => [topic, partitions])),
      timestamp,
    });
    return ({ topic, partition }) => {
      const offset = found.get(topic)?.[partition];
      if (offset === undefined) throw new Error(`${topic}/${partition}: no offset was answered`);
      return Number(offset);
    };
  }

  #laneOf(held: Held, from: number, start: number): PartitionLane {
    const { rules, makeLane, onError } = this.#options;
    const { topic, partition } = held;
    return new PartitionLane({
      topic,
      partition,
      from,
      start,
      rules,
      makeLane: (reject) => makeLane(partitionName(held), from, reject),
      bury: (record, value, issues) => this.#bury(record, value, issues),
      onHungry: () => this.#fetcher.wake(),
      onReplaced: () => this.#beginAnew(held),
      onError,
    });
  }

  /** What the lane knows is of another log. Its open runs are lost with that; what is done is stored. */
  #beginAnew(held: Held): void {
    const { lane } = held;
    held.lane = undefined;
    this.#track(
      (lane?.end(this.#options.graceMs) ?? Promise.resolve()).then(() => this.#open([held])),
    );
  }

  async #bury(
    record: TopicRecord,
    value: Buffer | null,
    issues: readonly DecodeIssue[],
  ): Promise<void> {
    this.#rejected++;
    const [{ field, expected } = { field: "line", expected: "an event" }] = issues;
    const where = `${partitionName(record)}:${record.offset}`;
    this.#options.onError(new Error(`${field}: expected ${expected}`), where);
    await this.#letters?.send({ record, value, issues });
  }

  /** Commits now and then; what fails is committed the next time. */
  async #tick(): Promise<void> {
    const { signal } = this.#stopping;
    let looked = performance.now();
    while (!signal.aborted) {
      await sleep(COMMIT_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      for (const { lane } of this.#held.values()) lane?.settle();
      await this.#commit([...this.#held.values()], (positions) => this.#member.commit(positions));
      if (performance.now() - looked < GROWTH_MS) continue;
      looked = performance.now();
      await this.#lookForGrowth();
    }
  }

  async #lookForGrowth(): Promise<void> {
    try {
      const partitions = await this.#countPartitions();
      if (partitions === this.#partitions) return;
      this.#partitions = partitions;
      this.#member.rejoin();
    } catch (error) {
      this.#options.onError(new Error(kafkaMessage(error)), "metadata");
    }
  }

  async #commit(
    all: readonly Held[],
    commit: (positions: readonly Position[]) => Promise<boolean>,
  ): Promise<void> {
    const ahead = all.flatMap((held) => {
      const stored = held.lane?.stored ?? -1;
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
      return;
    }
    for (const { held, stored } of ahead) held.committed = stored;
  }
}

const EARLIEST = -2n;
const LATEST = -1n;

/** Resolves with `undefined` where the work is not done within so many ms. */
async function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  const over = sleep(ms, undefined, { signal: late.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    late.abort();
  }
}
