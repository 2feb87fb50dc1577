import { Fetcher, type FetchTarget } from "./fetcher.ts";
import type { KafkaConsumer } from "./kafka-library.ts";

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
