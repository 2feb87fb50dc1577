import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type {
  CommittedOffset,
  ConsumerOptions,
  FetchOptions,
  FetchResponse,
  KafkaConsumer,
  TopicMetadata,
  TopicPartitions,
} from "../../../src/service/kafka/kafka-library.ts";
import { KafkaService } from "../../../src/service/kafka/kafka-service.ts";
import { untilHolds } from "../../e2e/support/until.ts";
import { libraryOf } from "./lone-member.ts";
import { NO_FIGURES } from "./processor-figures.ts";
import { protocolError } from "./records.ts";

/** One broker with some topics of one partition each. */
class TestBroker {
  readonly topics = new Map<string, string[]>();
  readonly committed = new Map<string, bigint>();
  /** Those that may be described, and not read. */
  readonly forbidden = new Set<string>();

  /** As the client does: all in one request, and an error that names one of them. */
  metadataOf(topics: readonly string[]): Map<string, TopicMetadata> {
    if (topics.some((topic) => !this.topics.has(topic))) {
      throw new Error(`Unknown topic ${topics[0]}.`);
    }
    return new Map(
      topics.map((id) => [
        id,
        { id, partitionsCount: 1, partitions: [{ leader: 1, leaderEpoch: 0 }] },
      ]),
    );
  }
}

/** The client, which asks for all topics that it tracks before whatever it does. */
class TestClient implements KafkaConsumer {
  memberId: string | null = null;
  readonly generationId = 0;
  assignments: readonly TopicPartitions[] | null = null;
  readonly #tracked = new Set<string>();
  readonly topics = {
    track: (topic: string) => this.#tracked.add(topic).has(topic),
    untrack: (topic: string) => this.#tracked.delete(topic),
  };
  readonly #broker: TestBroker;
  readonly #options: ConsumerOptions;
  #joined = () => {};

  constructor(broker: TestBroker, options: ConsumerOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  on(event: string, listener: (payload: unknown) => void): void {
    if (event === "consumer:group:join") this.#joined = () => listener(undefined);
  }

  async joinGroup(): Promise<string> {
    await this.#options.protocolsMetadata?.();
    const found = this.#broker.metadataOf([...this.#tracked]);
    this.memberId = "me";
    this.assignments = [...found.keys()].map((topic) => ({ topic, partitions: [0] }));
    this.#joined();
    return this.memberId;
  }

  async leaveGroup(): Promise<void> {}

  async close(): Promise<void> {}

  async metadata({ topics }: { topics: string[] }) {
    return { topics: this.#broker.metadataOf(topics) };
  }

  async commit({ offsets }: { offsets: CommittedOffset[] }): Promise<void> {
    this.#broker.metadataOf([...this.#tracked]);
    if (offsets.some(({ topic }) => this.#broker.forbidden.has(topic))) {
      throw protocolError("TOPIC_AUTHORIZATION_FAILED");
    }
    for (const { offset, topic } of offsets) this.#broker.committed.set(topic, offset);
  }

  async listCommittedOffsets({ topics }: { topics: TopicPartitions[] }) {
    return new Map(
      topics.map(({ topic }) => [topic, [this.#broker.committed.get(topic) ?? -1n]] as const),
    );
  }

  async listOffsets({ timestamp, topics }: { timestamp?: bigint; topics: string[] }) {
    this.#broker.metadataOf(topics);
    const end = (topic: string) => BigInt(this.#broker.topics.get(topic)?.length ?? 0);
    return new Map(topics.map((topic) => [topic, [timestamp === -2n ? 0n : end(topic)]] as const));
  }

  async fetch({ topics }: FetchOptions): Promise<FetchResponse> {
    await sleep(1);
    this.#broker.metadataOf([...this.#tracked]);
    if (topics.some(({ topicId }) => this.#broker.forbidden.has(topicId))) {
      throw protocolError("TOPIC_AUTHORIZATION_FAILED");
    }
    return {
      responses: topics.map(({ partitions, topicId }) => {
        const values = this.#broker.topics.get(topicId) ?? [];
        const at = Number(partitions[0]?.fetchOffset);
        const batch = {
          firstOffset: BigInt(at),
          lastOffsetDelta: values.length - at - 1,
          firstTimestamp: 0n,
          maxTimestamp: 0n,
          producerId: -1n,
          attributes: 0,
          records: values.slice(at).map((value, offsetDelta) => {
            const key = null;
            return { offsetDelta, timestampDelta: 0n, key, value: Buffer.from(value), headers: [] };
          }),
        };
        const lastStableOffset = BigInt(values.length);
        const records = at < values.length ? [batch] : [];
        return {
          topicId,
          partitions: [
            { partitionIndex: 0, highWatermark: lastStableOffset, lastStableOffset, records },
          ],
        };
      }),
    };
  }
}

describe("a worker of several topics", () => {
  const open: KafkaService[] = [];
  afterEach(() => Promise.all(open.splice(0).map((service) => service.stop())));

  function serviceOf(broker: TestBroker) {
    const played: string[] = [];
    const errors: string[] = [];
    const service = new KafkaService(libraryOf(TestClient, broker), {
      client: { clientId: "c", bootstrapBrokers: ["127.0.0.1:1"] },
      group: "g",
      instance: undefined,
      topics: ["good", "bad"],
      deadLetterTopic: undefined,
      lookback: 100,
      fromEnd: false,
      rules: { dialect: undefined, dialects: ["entelix"], trusted: true },
      maxRecordBytes: 1_000_000,
      sessionTimeoutMs: 6_000,
      graceMs: 100,
      makeProcessor: (name) => {
        let next = 0;
        return {
          take: ({ offset, text }: { offset: number; text: string }) => {
            played.push(`${name} ${text}`);
            next = offset + 1;
            return undefined;
          },
          idle: async () => {},
          settle: async () => next,
          close: async () => {},
          figures: NO_FIGURES,
        };
      },
      onError: (error, where) =>
        errors.push(`${where}: ${error instanceof Error ? error.message : String(error)}`),
      onNotice: () => {},
    });
    open.push(service);
    return { service, played, errors };
  }

  const PATIENT = { timeoutMs: 20_000 };

  it("goes on with the others while one is gone, and with that one once it is there again", async () => {
    const broker = new TestBroker();
    broker.topics.set("good", ["a"]).set("bad", ["b"]);
    const { errors, played, service } = serviceOf(broker);
    await service.start();
    await untilHolds("both are played", () =>
      expect([...played].sort()).toEqual(["bad/0 b", "good/0 a"]),
    );
    broker.topics.delete("bad");
    broker.topics.get("good")?.push("c");
    await untilHolds("the other goes on", () => expect(broker.committed.get("good")).toBe(2n), {
      ...PATIENT,
    });
    await untilHolds("its partition is let go", () =>
      expect(service.partitions.map(({ topic }) => topic)).toEqual(["good"]),
    );
    expect(errors).toContain("topics: Unknown topic bad.");
    broker.committed.delete("bad");
    broker.topics.set("bad", ["d"]);
    await untilHolds("it is played anew", () => expect(played).toContain("bad/0 d"), PATIENT);
    expect([...played].sort()).toEqual(["bad/0 b", "bad/0 d", "good/0 a", "good/0 c"]);
  }, 60_000);

  it("reads and commits the others where one may not be read", async () => {
    const broker = new TestBroker();
    broker.topics.set("good", ["a", "b"]).set("bad", ["c"]);
    broker.forbidden.add("bad");
    const { errors, played, service } = serviceOf(broker);
    await service.start();
    await untilHolds(
      "the other is committed",
      () => expect(broker.committed.get("good")).toBe(2n),
      {
        ...PATIENT,
      },
    );
    expect(played).toEqual(["good/0 a", "good/0 b"]);
    expect(errors).toContain("bad: fetch from broker 1: TOPIC_AUTHORIZATION_FAILED");
  });

  it("does not start without one of them, and names it", async () => {
    const broker = new TestBroker();
    broker.topics.set("good", []);
    await expect(serviceOf(broker).service.start()).rejects.toThrow("Unknown topic bad.");
  });
});
