import type { TopicPartitions } from "./kafka-library.ts";

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Its name in reports and as a key: `events/3`. A topic's name has no slash. */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** One by one. */
export function eachPartition(all: readonly TopicPartitions[]): TopicPartition[] {
  return all.flatMap(({ topic, partitions }) =>
    partitions.map((partition) => ({ topic, partition })),
  );
}

/** By topic, as the client asks for them. */
export function byTopic(all: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of all) {
    const partitions = topics.get(topic);
    if (partitions === undefined) topics.set(topic, [partition]);
    else partitions.push(partition);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}
