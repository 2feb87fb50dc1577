import { setTimeout as sleep } from "node:timers/promises";
import type {
  ClusterMetadata,
  CommittedOffset,
  ConsumerOptions,
  FetchOptions,
  FetchResponse,
  KafkaConsumer,
  KafkaLibrary,
  KafkaProducer,
  ProducedRecord,
} from "../../../src/service/kafka/kafka-library.ts";
import { LoneMember } from "./lone-member.ts";

/** What a broker does with a request: it answers, or it throws. */
export interface FakeRules {
  /** Called before each request, which fails where this throws. */
  readonly onRequest: (what: "fetch" | "offsets" | "produce") => void;
  /** Called with each record that is produced, of which none is stored where this throws. */
  readonly onProduced: (record: ProducedRecord) => void;
}

/** A broker in memory with one partition of `events`, and with what was produced to other topics. */
export class FakeBroker {
  readonly batches: { readonly base: number; readonly end: number; readonly data: Buffer }[] = [];
  readonly produced: ProducedRecord[] = [];
  committed = -1n;
  readonly rules: FakeRules;

  constructor(rules: FakeRules) {
    this.rules = rules;
  }

  get end(): number {
    return this.batches.at(-1)?.end ?? 0;
  }

  /** The client's library, for this broker. */
  get library(): KafkaLibrary {
    const broker = this;
    return {
      Consumer: class extends FakeConsumer {
        constructor(options: ConsumerOptions) {
          super(broker, options);
        }
      },
      Producer: class extends FakeProducer {
        constructor() {
          super(broker);
        }
      },
    };
  }

  /** Whole batches, the first one however long it is. */
  section(from: number, mostBytes: number): Buffer {
    const found: Buffer[] = [];
    let bytes = 0;
    for (const { data, end } of this.batches) {
      if (end <= from) continue;
      bytes += data.length;
      if (found.length > 0 && bytes > mostBytes) break;
      found.push(data);
    }
    return Buffer.concat(found);
  }
}

class FakeConsumer extends LoneMember implements KafkaConsumer {
  readonly #broker: FakeBroker;

  constructor(broker: FakeBroker, options: ConsumerOptions) {
    super(options);
    this.#broker = broker;
  }

  async metadata({ topics }: { topics: string[] }): Promise<ClusterMetadata> {
    const topic = { id: "id", partitionsCount: 1, partitions: [{ leader: 1, leaderEpoch: 0 }] };
    return { topics: new Map(topics.map((name) => [name, topic])) };
  }

  async commit({ offsets }: { offsets: CommittedOffset[] }): Promise<void> {
    this.#broker.committed = offsets[0]?.offset ?? -1n;
  }

  async listCommittedOffsets() {
    return new Map([["events", [this.#broker.committed]]]);
  }

  async listOffsets({ topics, timestamp }: { topics: string[]; timestamp?: bigint }) {
    // At the start they are there.
    if (this.#broker.committed >= 0n || !topics.includes("events")) {
      this.#broker.rules.onRequest("offsets");
    }
    const offset = timestamp === -2n ? 0n : BigInt(this.#broker.end);
    return new Map(topics.map((topic) => [topic, [offset]]));
  }

  async fetch({ topics }: FetchOptions): Promise<FetchResponse> {
    await sleep(1);
    this.#broker.rules.onRequest("fetch");
    const asked = topics[0]?.partitions[0];
    const from = Number(asked?.fetchOffset ?? 0n);
    const end = BigInt(this.#broker.end);
    const raw = this.#broker.section(from, asked?.partitionMaxBytes ?? 0);
    const partition = { partitionIndex: 0, highWatermark: end, lastStableOffset: end, raw };
    return { responses: [{ topicId: "id", partitions: [partition] }] };
  }
}

class FakeProducer implements KafkaProducer {
  readonly #broker: FakeBroker;

  constructor(broker: FakeBroker) {
    this.#broker = broker;
  }

  async send({ messages }: { messages: ProducedRecord[] }): Promise<void> {
    await sleep(1);
    this.#broker.rules.onRequest("produce");
    for (const message of messages) this.#broker.rules.onProduced(message);
    this.#broker.produced.push(...messages);
  }

  async metadata(): Promise<ClusterMetadata> {
    return { topics: new Map() };
  }

  async close(): Promise<void> {}
}
