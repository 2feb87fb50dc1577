import type { ClientOptions } from "./client-options.ts";

/** What is used of `@platformatic/kafka`: an optional peer, so its own types are not at hand here. */
export interface KafkaLibrary {
  readonly Consumer: new (options: ConsumerOptions) => KafkaConsumer;
  readonly Producer: new (options: ClientOptions) => KafkaProducer;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

export interface ConsumerOptions extends ClientOptions {
  readonly groupId: string;
  readonly groupInstanceId?: string;
  /** In ms, as all times here. */
  readonly sessionTimeout?: number;
  readonly rebalanceTimeout?: number;
  readonly heartbeatInterval?: number;
  readonly protocols?: readonly { readonly name: string; readonly version: number }[];
  /** Called before each (re)join of the group, which waits for it. */
  readonly protocolsMetadata?: () => Promise<Buffer>;
  /** 1: only records of committed transactions. */
  readonly isolationLevel?: number;
}

interface Client {
  metadata(options: { topics: string[]; forceUpdate?: boolean }): Promise<ClusterMetadata>;
  close(force?: boolean): Promise<void>;
}

export interface ClusterMetadata {
  readonly topics: ReadonlyMap<string, TopicMetadata>;
}

export interface TopicMetadata {
  readonly id: string;
  readonly partitionsCount: number;
  readonly partitions: readonly { readonly leader: number; readonly leaderEpoch: number }[];
}

export interface KafkaConsumer extends Client {
  readonly memberId: string | null;
  readonly generationId: number;
  readonly assignments: readonly TopicPartitions[] | null;
  readonly topics: { track(topic: string): boolean; untrack(topic: string): boolean };
  joinGroup(options: object, callback?: (error: Error | null) => void): Promise<string> | undefined;
  leaveGroup(force?: boolean): Promise<void>;
  commit(options: { offsets: CommittedOffset[] }): Promise<void>;
  /** -1 where nothing was committed, at the index of the partition. */
  listCommittedOffsets(options: { topics: TopicPartitions[] }): Promise<OffsetsByTopic>;
  listOffsets(options: {
    topics: string[];
    partitions?: Record<string, number[]>;
    timestamp?: bigint;
  }): Promise<OffsetsByTopic>;
  fetch(options: FetchOptions): Promise<FetchResponse>;
  on(event: string, listener: (payload: unknown) => void): unknown;
}

export type OffsetsByTopic = ReadonlyMap<string, readonly (bigint | undefined)[]>;

export interface CommittedOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly leaderEpoch: number;
}

export interface FetchOptions {
  readonly node: number;
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly topics: { readonly topicId: string; readonly partitions: FetchPartition[] }[];
}

export interface FetchPartition {
  readonly partition: number;
  readonly currentLeaderEpoch: number;
  readonly fetchOffset: bigint;
  readonly lastFetchedEpoch: number;
  readonly partitionMaxBytes: number;
}

export interface FetchResponse {
  readonly responses: readonly {
    readonly topicId: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedPartition {
  readonly partitionIndex: number;
  /** Where the log ends for readers of committed transactions. */
  readonly lastStableOffset: bigint;
  /** Those that have records in this answer, or began before it and end behind it. */
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
  readonly records?: readonly RecordsBatch[] | null;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

export interface RecordsBatch {
  readonly firstOffset: bigint;
  readonly lastOffsetDelta: number;
  readonly firstTimestamp: bigint;
  /** The broker's own time, where the topic's records have that. */
  readonly maxTimestamp: bigint;
  /** -1: none. */
  readonly producerId: bigint;
  readonly attributes: number;
  readonly records: readonly BatchRecord[];
}

export interface BatchRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
}

export type Header = readonly [Buffer | null, Buffer | null];

export interface KafkaProducer extends Client {
  send(options: { messages: ProducedRecord[]; acks: number }): Promise<unknown>;
}

export interface ProducedRecord {
  readonly topic: string;
  /** Without it, that of the key. */
  readonly partition?: number;
  readonly key: Buffer | undefined;
  readonly value: Buffer | null;
  readonly headers: Map<Buffer, Buffer | null>;
}

const NAME = "@platformatic/kafka";

const CONSUMER_METHODS = [
  "joinGroup",
  "leaveGroup",
  "commit",
  "listCommittedOffsets",
  "listOffsets",
  "fetch",
  "metadata",
  "close",
  "on",
];
const PRODUCER_METHODS = ["send", "metadata", "close"];

/** Something is missing to read from Kafka; the message says what to install. */
export class KafkaUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KafkaUnavailableError";
  }
}

/**
 * Loads the Kafka client, which is installed beside this package.
 *
 * @throws KafkaUnavailableError when it is not installed, does not run on this Node, or has another
 * shape than version 2.
 */
export async function loadKafkaLibrary(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<KafkaLibrary> {
  let library: unknown;
  try {
    library = await load(NAME);
  } catch (error) {
    const node = `It needs Node 22.22 or newer; this is ${process.version}.`;
    const missing = isModuleNotFound(error);
    const what = missing ? "it is not installed" : String(error);
    throw new KafkaUnavailableError(
      `${NAME}: ${what}. Run: npm install ${NAME}@^2.12 beside entelix-otel. ${node}`,
      { cause: error },
    );
  }
  if (!isKafkaLibrary(library)) {
    throw new KafkaUnavailableError(`${NAME}: expected its version 2, from 2.12 on`);
  }
  return library;
}

function isModuleNotFound(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(NAME)
  );
}

function isKafkaLibrary(module: unknown): module is KafkaLibrary {
  if (typeof module !== "object" || module === null) return false;
  return (
    "Consumer" in module &&
    hasMethods(module.Consumer, CONSUMER_METHODS) &&
    "Producer" in module &&
    hasMethods(module.Producer, PRODUCER_METHODS)
  );
}

function hasMethods(made: unknown, methods: readonly string[]): boolean {
  if (typeof made !== "function") return false;
  const { prototype } = made;
  return methods.every((name) => typeof prototype?.[name] === "function");
}
