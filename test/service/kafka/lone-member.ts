import type {
  ConsumerOptions,
  KafkaConsumer,
  KafkaLibrary,
  TopicPartitions,
} from "../../../src/service/kafka/kafka-library.ts";
import { NoProducer } from "./records.ts";

/** The only member of its group: it has the one partition of `events`. */
export class LoneMember {
  memberId: string | null = null;
  readonly generationId = 0;
  readonly assignments: readonly TopicPartitions[] = [{ topic: "events", partitions: [0] }];
  readonly topics = { track: () => true, untrack: () => true };
  readonly #beforeJoin: () => Promise<Buffer>;
  #joined = () => {};

  constructor(options: ConsumerOptions) {
    this.#beforeJoin = options.protocolsMetadata ?? (async () => Buffer.alloc(0));
  }

  on(event: string, listener: (payload: unknown) => void): void {
    if (event === "consumer:group:join") this.#joined = () => listener(undefined);
  }

  async joinGroup(): Promise<string> {
    await this.#beforeJoin();
    this.memberId = "me";
    this.#joined();
    return this.memberId;
  }

  async leaveGroup(): Promise<void> {}

  async close(): Promise<void> {}
}

/** The client's library with consumers for this broker, and without a dead letter topic. */
export function libraryOf<B>(
  Consumer: new (broker: B, options: ConsumerOptions) => KafkaConsumer,
  broker: B,
): KafkaLibrary {
  return {
    Consumer: class extends Consumer {
      constructor(options: ConsumerOptions) {
        super(broker, options);
      }
    },
    Producer: NoProducer,
  };
}
