import { Backoff, within } from "../../bridge/door.ts";
import type { ConsumerOptions, KafkaConsumer } from "./kafka-library.ts";
import { byTopic, eachPartition, partitionName, type TopicPartition } from "./topic-record.ts";

/** Callbacks of a member of a group. */
export interface GroupDuties {
  /**
   * Called before each (re)join, which waits for it: what is not in `kept` is another member's soon.
   * The commits of {@link GroupMember.commit} are still taken meanwhile, if `member` is true; it is
   * false where the group has given this member up and its partitions may be others' already.
   */
  release(kept: ReadonlySet<string>, member: boolean): Promise<void>;
  /** All that is this member's now. */
  assigned(partitions: readonly TopicPartition[]): void;
  onError(error: unknown, where: string): void;
}

export interface GroupOptions {
  readonly topics: readonly string[];
  /** Without a heartbeat for that long a member is given up by its group, in ms. */
  readonly sessionTimeoutMs: number;
  /** How long a rebalance waits for a member, in ms. */
  readonly rebalanceTimeoutMs: number;
}

/** Where reading goes on after a crash. */
export interface Position extends TopicPartition {
  readonly offset: number;
}

/** Of the cooperative protocol; this version of a subscription says whose partitions are whose. */
const PROTOCOL = { name: "cooperative-sticky", version: 3 };
/** Three heartbeats may be lost. */
const HEARTBEATS_A_SESSION = 4;
/** A join waits for the slowest member; its answer takes a little longer. */
const JOIN_ANSWER_MS = 10_000;
/** A broker that can't be reached must not hold up the end, in ms. */
const LEAVE_MS = 5_000;

/**
 * A member of a consumer group that only learns which partitions are its own and commits their
 * positions: it does not read them, so that heartbeats go on however long reading
 * stands still.
 */
export class GroupMember {
  readonly #consumer: KafkaConsumer;
  readonly #duties: GroupDuties;
  readonly #backoff = new Backoff();
  readonly #leaving = new AbortController();
  #joining = false;
  #joiningAgain = false;
  #wanted: readonly string[];
  /** The join that is under way has begun with other topics. */
  #wantedAnew = false;
  #commit: Promise<void> = Promise.resolve();

  /** @param make makes the client; it is this one's alone. */
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

  /** Resolves when it is a member. @throws (rejects) only when it leaves meanwhile. */
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

  /** Wants the partitions of these topics alone from now on: has the group share them out anew. */
  subscribe(topics: readonly string[]): void {
    const { topics: tracked } = this.#consumer;
    for (const topic of this.#wanted) if (!topics.includes(topic)) tracked.untrack(topic);
    for (const topic of topics) if (!this.#wanted.includes(topic)) tracked.track(topic);
    this.#wanted = topics;
    if (this.#joining || this.#joiningAgain) this.#wantedAnew = true;
    else this.rejoin();
  }

  /** Has the group share its partitions out anew: there are more of them. */
  rejoin(): void {
    if (this.#joining || this.#joiningAgain) return;
    this.#joinAnew();
  }

  /**
   * Commits positions as the member that this is now.
   *
   * @returns false when it is none just now: they are to be committed later, by the owner of the
   * partitions then.
   * @throws (rejects) when the brokers refuse it or can't be reached.
   */
  async commit(positions: readonly Position[]): Promise<boolean> {
    if (this.#joining) return false;
    return this.#send(positions);
  }

  /** {@link commit} during {@link GroupDuties.release}. */
  commitLast(positions: readonly Position[]): Promise<boolean> {
    return this.#send(positions);
  }

  /** What was committed for each, by name. Without an entry: nothing was. */
  async committed(partitions: readonly TopicPartition[]): Promise<Map<string, number>> {
    const answer = await this.#consumer.listCommittedOffsets({ topics: byTopic(partitions) });
    const found = new Map<string, number>();
    for (const { topic, partition } of partitions) {
      const offset = Number(answer.get(topic)?.[partition] ?? -1);
      if (offset >= 0) found.set(partitionName({ topic, partition }), offset);
    }
    return found;
  }

  /** Leaves, so that others take over at once. */
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
   * The client answers a commit that was refused, since the group has moved on, by joining again and
   * committing the same once more as the new member that it is then: the fence that the refusal was
   * is lost. So the join that it asks for is done, but the commit ends there.
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
    // Its refusal after the join would be taken for one by the new generation.
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

  /** The client has given up to join again. */
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
