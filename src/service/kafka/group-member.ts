import { Backoff, within } from "../../bridge/door.ts";
import type { ConsumerOptions, KafkaConsumer } from "./kafka-library.ts";
import { byTopic, eachPartition, partitionName, type TopicPartition } from "./topic-record.ts";

/** Callbacks of a group member. */
export interface GroupDuties {
  /**
   * Called before each (re)join, which waits for it. Partitions that are not in `kept` will belong to other members.
   * With `member` true, {@link GroupMember.commitLast} still works. It is false if the group has removed this member,
   * so that its partitions may already belong to others.
   */
  release(kept: ReadonlySet<string>, member: boolean): Promise<void>;
  /** Called with all current partitions of this member. */
  assigned(partitions: readonly TopicPartition[]): void;
  onError(error: unknown, where: string): void;
}

export interface GroupOptions {
  readonly topics: readonly string[];
  /** Time without a heartbeat after which the group removes a member, in ms. */
  readonly sessionTimeoutMs: number;
  /** How long a rebalance waits for a member, in ms. */
  readonly rebalanceTimeoutMs: number;
}

/** A partition's offset to continue from after a crash. */
export interface Position extends TopicPartition {
  readonly offset: number;
}

/** The cooperative protocol. This version of a subscription includes the owned partitions. */
const PROTOCOL = { name: "cooperative-sticky", version: 3 };
/** Three heartbeats may be lost. */
const HEARTBEATS_A_SESSION = 4;
/** Added to a join's time limit: it waits for the slowest member. */
const JOIN_ANSWER_MS = 10_000;
/** Time limit for leaving, in ms: an unreachable broker must not delay the shutdown. */
const LEAVE_MS = 5_000;

/**
 * A member of a consumer group that only learns its partitions and commits their positions. It does not read, so
 * heartbeats continue while reading is blocked.
 */
export class GroupMember {
  readonly #consumer: KafkaConsumer;
  readonly #duties: GroupDuties;
  readonly #backoff = new Backoff();
  readonly #leaving = new AbortController();
  #joining = false;
  #joiningAgain = false;
  #wanted: readonly string[];
  /** Whether the pending join has begun with other topics. */
  #wantedAnew = false;
  #commit: Promise<void> = Promise.resolve();

  /** @param make creates a client for this member only. */
  constructor(
    make: (options: ConsumerOptions) => KafkaConsumer,
    client: ConsumerOptions,
    options: GroupOptions,
    duties: GroupDuties,
  ) {
    this.#duties = duties;
    const { sessionTimeoutMs, rebalanceTimeoutMs } = options;
    const consumer = make({
      ...client,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / HEARTBEATS_A_SESSION),
      requestTimeout: rebalanceTimeoutMs + JOIN_ANSWER_MS,
      protocols: [PROTOCOL],
      protocolsMetadata: () => this.#beforeJoin(),
    });
    this.#consumer = consumer;
    this.#wanted = options.topics;
    for (const topic of options.topics) consumer.topics.track(topic);
    consumer.on("consumer:group:join", () => this.#joined());
    consumer.on("error", (error) => this.#lost(error));
    consumer.on("consumer:heartbeat:error", (payload) => {
      duties.onError(errorOf(payload), "heartbeat");
    });
    this.#neverCommitAnew();
  }

  /** Resolves when it is a member. @throws (rejects) only if it leaves meanwhile. */
  async join(): Promise<void> {
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      try {
        await this.#consumer.joinGroup({});
        return;
      } catch (error) {
        if (signal.aborted) break;
        this.#duties.onError(error, "join");
        await this.#backoff.wait(signal);
      }
    }
    throw new Error("left the group");
  }

  /** Changes the topics, and starts a rebalance. */
  subscribe(topics: readonly string[]): void {
    const { topics: tracked } = this.#consumer;
    for (const topic of this.#wanted) if (!topics.includes(topic)) tracked.untrack(topic);
    for (const topic of topics) if (!this.#wanted.includes(topic)) tracked.track(topic);
    this.#wanted = topics;
    if (this.#joining || this.#joiningAgain) this.#wantedAnew = true;
    else this.rejoin();
  }

  /** Starts a rebalance, for example after partitions were added. */
  rejoin(): void {
    if (this.#joining || this.#joiningAgain) return;
    this.#joinAnew();
  }

  /**
   * Commits positions as the current member.
   *
   * @returns false if this is not a member now. The next owner of the partitions commits later.
   * @throws (rejects) if the brokers reject it or can't be reached.
   */
  async commit(positions: readonly Position[]): Promise<boolean> {
    if (this.#joining) return false;
    return this.#send(positions);
  }

  /** Like {@link commit}, for use during {@link GroupDuties.release}. */
  commitLast(positions: readonly Position[]): Promise<boolean> {
    return this.#send(positions);
  }

  /** The committed offsets by partition name. Partitions without a commit are absent. */
  async committed(partitions: readonly TopicPartition[]): Promise<Map<string, number>> {
    const answer = await this.#consumer.listCommittedOffsets({ topics: byTopic(partitions) });
    const found = new Map<string, number>();
    for (const { topic, partition } of partitions) {
      const offset = Number(answer.get(topic)?.[partition] ?? -1);
      if (offset >= 0) found.set(partitionName({ topic, partition }), offset);
    }
    return found;
  }

  /** Leaves the group, so that others take over at once. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    const closed = this.#consumer.close(true).catch((error) => {
      this.#duties.onError(error, "leave");
    });
    await within(LEAVE_MS, closed);
  }

  #joinAnew(): void {
    if (this.#leaving.signal.aborted) return;
    this.#joiningAgain = true;
    this.join()
      // It leaves meanwhile.
      .catch(() => {})
      .finally(() => {
        this.#joiningAgain = false;
      });
  }

  async #send(positions: readonly Position[]): Promise<boolean> {
    if (this.#consumer.memberId === null) return false;
    const offsets = positions.map(({ topic, partition, offset }) => {
      return { topic, partition, offset: BigInt(offset), leaderEpoch: -1 };
    });
    const committing = this.#commit.then(() => this.#consumer.commit({ offsets }));
    this.#commit = committing.catch(() => {});
    await committing;
    return true;
  }

  /**
   * If a commit is rejected because the group has moved on, the client joins again and repeats the commit as the new
   * member. That would bypass the fencing. So the join is done, but the commit fails.
   */
  #neverCommitAnew(): void {
    const consumer = this.#consumer;
    const join = consumer.joinGroup.bind(consumer);
    consumer.joinGroup = (options, callback) => {
      if (callback === undefined) return join(options);
      this.rejoin();
      callback(new Error("the group has moved on; the commit was refused"));
      return undefined;
    };
  }

  async #beforeJoin(): Promise<Buffer> {
    this.#joining = true;
    // A rejection after the join would look like one of the new generation.
    await this.#commit;
    const { assignments, memberId } = this.#consumer;
    const kept = new Set(eachPartition(assignments ?? []).map(partitionName));
    try {
      await this.#duties.release(kept, memberId !== null);
    } catch (error) {
      this.#duties.onError(error, "release");
    }
    // The client reads its topics after this.
    this.#wantedAnew = false;
    return Buffer.alloc(0);
  }

  #joined(): void {
    this.#joining = false;
    this.#backoff.reset();
    this.#duties.assigned(eachPartition(this.#consumer.assignments ?? []));
    if (!this.#wantedAnew) return;
    this.#wantedAnew = false;
    this.#joinAnew();
  }

  /** The client has stopped trying to join. */
  #lost(error: unknown): void {
    this.#joining = false;
    if (this.#leaving.signal.aborted) return;
    this.#duties.onError(error, "group");
    this.rejoin();
  }
}

function errorOf(payload: unknown): unknown {
  return typeof payload === "object" && payload !== null && "error" in payload
    ? payload.error
    : payload;
}
