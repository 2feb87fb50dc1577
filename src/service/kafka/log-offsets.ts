import { type KafkaConsumer, kafkaMessage } from "./kafka-library.ts";
import { byTopic, type TopicPartition } from "./topic-record.ts";

export const EARLIEST = -2n;
export const LATEST = -1n;
/** Includes records of open transactions. */
const UNCOMMITTED = 0;

/**
 * An offset of each partition's log.
 *
 * @param isolationLevel 0: of the whole log. Default: for readers of committed transactions.
 * @throws (rejects) if the brokers can't be reached. The returned function throws for a partition without an answer.
 */
export async function logOffsets(
  reader: KafkaConsumer,
  wanted: readonly TopicPartition[],
  timestamp: bigint,
  isolationLevel?: number,
): Promise<(of: TopicPartition) => number> {
  const topics = byTopic(wanted);
  const found = await reader.listOffsets({
    topics: topics.map(({ topic }) => topic),
    partitions: Object.fromEntries(topics.map(({ topic, partitions }) => [topic, partitions])),
    timestamp,
    ...(isolationLevel === undefined ? {} : { isolationLevel }),
  });
  return ({ topic, partition }) => {
    const offset = found.get(topic)?.[partition];
    if (offset === undefined)
      throw new Error(`${topic}/${partition}: expected an offset from the broker, got none`);
    return Number(offset);
  };
}

/** A partition that needs to know the end of its log. */
export interface EndTarget extends TopicPartition {
  /** Whether the last known end is old, because no fetch reported one. */
  readonly endIsOld: boolean;
  endsAt(logEnd: number): void;
}

/** Queries the ends of logs without fetches, so that waiting records are noticed. */
export class LogEnds {
  readonly #reader: KafkaConsumer;
  readonly #onError: (error: unknown, where: string) => void;
  #asking = false;

  constructor(reader: KafkaConsumer, onError: (error: unknown, where: string) => void) {
    this.#reader = reader;
    this.#onError = onError;
  }

  /** Never rejects. Does nothing while a query is pending. */
  async refresh(targets: readonly EndTarget[]): Promise<void> {
    const old = targets.filter(({ endIsOld }) => endIsOld);
    if (this.#asking || old.length === 0) return;
    this.#asking = true;
    try {
      // A missing topic must not hide the ends of the others.
      for (const { topic } of byTopic(old)) {
        const of = old.filter((target) => target.topic === topic);
        await this.#ask(of).catch((error) => {
          this.#onError(new Error(kafkaMessage(error)), `${topic}: end of the log`);
        });
      }
    } finally {
      this.#asking = false;
    }
  }

  async #ask(targets: readonly EndTarget[]): Promise<void> {
    const end = await logOffsets(this.#reader, targets, LATEST, UNCOMMITTED);
    for (const target of targets) target.endsAt(end(target));
  }
}
