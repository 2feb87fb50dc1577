import type { KafkaConsumer } from "./kafka-library.ts";
import { isTopicRefused, kafkaMessage } from "./kafka-library.ts";

/** Interval of checks in ms, normally and while something is wrong. */
const LOOK_MS = 60_000;
const DOUBT_MS = 5_000;

/**
 * Checks which topics exist, and their number of partitions. A member that wants a missing topic can neither join its
 * group nor stay in it, because the client requests metadata of all topics first.
 */
export class TopicWatch {
  readonly #reader: KafkaConsumer;
  readonly #topics: readonly string[];
  readonly #onError: (error: unknown, where: string) => void;
  /** `undefined`: the topic is missing. */
  #partitions = new Map<string, number | undefined>();
  #looked = Number.NEGATIVE_INFINITY;
  #doubted = false;
  #looking = false;

  constructor(
    reader: KafkaConsumer,
    topics: readonly string[],
    onError: (error: unknown, where: string) => void,
  ) {
    this.#reader = reader;
    this.#topics = topics;
    this.#onError = onError;
  }

  /** The topics that exist, as far as known. */
  get there(): readonly string[] {
    return this.#topics.filter((topic) => this.#partitions.get(topic) !== undefined);
  }

  /** After a failure: the next check is soon. */
  doubt(): void {
    this.#doubted = true;
  }

  /** Checks that all topics exist at the start. @throws (rejects) for a missing one. */
  async begin(more: readonly string[]): Promise<void> {
    for (const topic of [...this.#topics, ...more]) {
      try {
        this.#partitions.set(topic, await this.#count(topic));
      } catch (error) {
        throw isTopicRefused(error) ? refusal(topic, error) : error;
      }
    }
    this.#looked = performance.now();
  }

  /** Checks if it is time. @returns whether something has changed. */
  async look(): Promise<boolean> {
    const soon = this.#doubted || this.there.length < this.#topics.length;
    const due = performance.now() - this.#looked >= (soon ? DOUBT_MS : LOOK_MS);
    if (!due || this.#looking) return false;
    this.#looking = true;
    this.#doubted = false;
    const changed = await Promise.all(this.#topics.map((topic) => this.#lookAt(topic)));
    this.#looked = performance.now();
    this.#looking = false;
    return changed.includes(true);
  }

  async #lookAt(topic: string): Promise<boolean> {
    let count: number | undefined;
    try {
      count = await this.#count(topic);
    } catch (error) {
      const refused = isTopicRefused(error);
      this.#onError(refused ? refusal(topic, error) : error, refused ? "topics" : "metadata");
      // Unreachable brokers say nothing about the topic.
      if (!refused) return false;
    }
    const before = this.#partitions.get(topic);
    this.#partitions.set(topic, count);
    return count !== before;
  }

  async #count(topic: string): Promise<number | undefined> {
    const { topics } = await this.#reader.metadata({ topics: [topic], forceUpdate: true });
    const found = topics.get(topic);
    if (found === undefined) throw new Error(`Unknown topic ${topic}.`);
    return found.partitionsCount;
  }
}

/** The client's own message may name another topic, or none. */
function refusal(topic: string, error: unknown): Error {
  const message = kafkaMessage(error);
  const named = message.includes(topic) ? message : `${topic}: ${message}`;
  return new Error(named, { cause: error });
}
