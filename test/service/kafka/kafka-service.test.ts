import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type {
  ClusterMetadata,
  CommittedOffset,
  ConsumerOptions,
  FetchOptions,
  FetchResponse,
  KafkaConsumer,
} from "../../../src/service/kafka/kafka-library.ts";
import { KafkaService } from "../../../src/service/kafka/kafka-service.ts";
import type { LineTaker } from "../../../src/service/kafka/partition-processor.ts";
import { untilHolds } from "../../e2e/support/until.ts";
import { LoneMember, libraryOf } from "./lone-member.ts";
import { NO_FIGURES } from "./processor-figures.ts";
import { protocolError } from "./records.ts";

/** One broker with the one partition of `events`. */
class TestBroker {
  id = "first";
  values: string[] = [];
  committed = -1n;
  commits = 0;
  /** It takes requests, and answers no commit. */
  frozen = false;

  /** The topic is deleted and made again, with what was committed of it. */
  makeAnew(values: string[]): void {
    this.id = "second";
    this.values = values;
    this.committed = -1n;
  }
}

/** The client, as far as a service uses it. */
class TestClient extends LoneMember implements KafkaConsumer {
  readonly #broker: TestBroker;

  constructor(broker: TestBroker, options: ConsumerOptions) {
    super(options);
    this.#broker = broker;
  }

  async metadata(): Promise<ClusterMetadata> {
    const { id } = this.#broker;
    const topic = { id, partitionsCount: 1, partitions: [{ leader: 1, leaderEpoch: 0 }] };
    return { topics: new Map([["events", topic]]) };
  }

  async commit({ offsets }: { offsets: CommittedOffset[] }): Promise<void> {
    this.#broker.commits++;
    if (this.#broker.frozen) await new Promise(() => {});
    this.#broker.committed = offsets[0]?.offset ?? -1n;
  }

  async listCommittedOffsets() {
    return new Map([["events", [this.#broker.committed]]]);
  }

  async listOffsets({ timestamp }: { timestamp?: bigint }) {
    return new Map([["events", [timestamp === -2n ? 0n : BigInt(this.#broker.values.length)]]]);
  }

  async fetch({ topics }: FetchOptions): Promise<FetchResponse> {
    await sleep(1);
    const { id, values } = this.#broker;
    if (topics[0]?.topicId !== id) throw protocolError("UNKNOWN_TOPIC_ID");
    const at = Number(topics[0]?.partitions[0]?.fetchOffset);
    if (at > values.length) throw protocolError("OFFSET_OUT_OF_RANGE");
    const lastStableOffset = BigInt(values.length);
    const records = values.slice(at).map((value, index) => ({
      firstOffset: BigInt(at + index),
      lastOffsetDelta: 0,
      firstTimestamp: 0n,
      maxTimestamp: 0n,
      producerId: -1n,
      attributes: 0,
      records: [
        { offsetDelta: 0, timestampDelta: 0n, key: null, value: Buffer.from(value), headers: [] },
      ],
    }));
    const partition = {
      partitionIndex: 0,
      highWatermark: lastStableOffset,
      lastStableOffset,
      records,
    };
    return { responses: [{ topicId: id, partitions: [partition] }] };
  }
}

/** Takes lines, and has stored them at once. */
class TestLane implements LineTaker {
  readonly texts: string[] = [];
  readonly figures = NO_FIGURES;
  readonly from: number;
  #next = 0;

  constructor(from: number) {
    this.from = from;
  }

  take({ offset, text }: { offset: number; text: string }) {
    this.texts.push(text);
    this.#next = offset + 1;
    return undefined;
  }

  async idle() {}

  async settle() {
    return this.#next;
  }

  async close() {}
}

describe("KafkaService", () => {
  const open: KafkaService[] = [];
  afterEach(() => Promise.all(open.splice(0).map((service) => service.stop())));

  async function start(broker: TestBroker) {
    const processors: TestLane[] = [];
    const errors: string[] = [];
    const service = new KafkaService(libraryOf(TestClient, broker), {
      client: { clientId: "c", bootstrapBrokers: ["127.0.0.1:1"] },
      group: "g",
      instance: undefined,
      topics: ["events"],
      deadLetterTopic: undefined,
      lookback: 100,
      fromEnd: false,
      rules: { dialect: undefined, dialects: ["entelix"], trusted: true },
      maxRecordBytes: 1_000_000,
      sessionTimeoutMs: 6_000,
      graceMs: 100,
      makeProcessor: (_, from) => {
        const processor = new TestLane(from);
        processors.push(processor);
        return processor;
      },
      onError: (error, where) => errors.push(`${where}: ${String(error)}`),
      onNotice: () => {},
    });
    open.push(service);
    await service.start();
    return { service, processors, errors };
  }

  it("begins a partition anew whose topic was made anew while it was read", async () => {
    const broker = new TestBroker();
    broker.values = ["a", "b", "c", "d"];
    const { errors, processors, service } = await start(broker);
    await untilHolds("all was committed", () => expect(broker.committed).toBe(4n));
    broker.makeAnew(["e", "f"]);
    await untilHolds("the new one was committed", () => expect(broker.committed).toBe(2n), {
      timeoutMs: 10_000,
    });
    expect(processors.map(({ texts }) => texts)).toEqual([
      ["a", "b", "c", "d"],
      ["e", "f"],
    ]);
    expect(errors).toContain(
      "events/0: Error: the log was cut or made anew: the topic has another id",
    );
    expect(service.partitions).toMatchObject([{ committed: 2, behind: 0 }]);
  });

  it("ends though no broker answers any more", async () => {
    const broker = new TestBroker();
    broker.frozen = true;
    broker.values = ["a"];
    const { errors, service } = await start(broker);
    await untilHolds("a commit is under way", () => expect(broker.commits).toBe(1), {
      timeoutMs: 10_000,
    });
    open.length = 0;
    await service.stop();
    expect(broker.committed).toBe(-1n);
    expect(errors).toEqual([]);
  });

  it("reads again what a log has from where it was cut, and commits it", async () => {
    const broker = new TestBroker();
    broker.values = ["a", "b", "c", "d"];
    const { errors, processors } = await start(broker);
    await untilHolds("all was committed", () => expect(broker.committed).toBe(4n));
    // An unclean election: two records are lost, and one comes in their place.
    broker.values = ["a", "b", "new"];
    await untilHolds("what is there was committed", () => expect(broker.committed).toBe(3n), {
      timeoutMs: 10_000,
    });
    expect(processors.map(({ from, texts }) => [from, texts])).toEqual([
      [0, ["a", "b", "c", "d"]],
      [0, ["a", "b", "new"]],
    ]);
    expect(errors.join("\n")).toContain("it ends at 3, but 4 is the next offset to read");
  });
});
