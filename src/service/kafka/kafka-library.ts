import type { ClientAlgorithms } from "./decompress.ts";

/** The used part of `@platformatic/kafka`, an optional peer without types here. */
export interface KafkaLibrary {
  readonly Consumer: new (options: ConsumerOptions) => KafkaConsumer;
  readonly Producer: new (options: ClientOptions) => KafkaProducer;
  readonly compressionsAlgorithms?: ClientAlgorithms;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

export interface ConsumerOptions extends ClientOptions {
  readonly groupId: string;
  readonly groupInstanceId?: string;
  /** In ms, like all times here. */
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
  /** Its pool of connections. */
  readonly connections?: unknown;
  joinGroup(options: object, callback?: (error: Error | null) => void): Promise<string> | undefined;
  leaveGroup(force?: boolean): Promise<void>;
  commit(options: { offsets: CommittedOffset[] }): Promise<void>;
  /** -1 for partitions without a commit. The index is the partition. */
  listCommittedOffsets(options: { topics: TopicPartitions[] }): Promise<OffsetsByTopic>;
  listOffsets(options: {
    topics: string[];
    partitions?: Record<string, number[]>;
    timestamp?: bigint;
    /** 0: of the whole log. Default 1: for readers of committed transactions. */
    isolationLevel?: number;
  }): Promise<OffsetsByTopic>;
  /** @param options `connectionPool`: replaces its own. */
  fetch(options: FetchOptions & { readonly connectionPool?: unknown }): Promise<FetchResponse>;
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
  /** Above 0 the broker throttles this client, and may leave out records. */
  readonly throttleTimeMs?: number;
  readonly responses: readonly {
    readonly topicId: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedPartition {
  readonly partitionIndex: number;
  /** End of the log. After `lastStableOffset` while a transaction is open. */
  readonly highWatermark: bigint;
  /** End of the log for readers of committed transactions. */
  readonly lastStableOffset: bigint;
  /** Aborted transactions that overlap the records of this answer. */
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
  readonly records?: readonly RecordsBatch[] | null;
  /** The undecoded records, see {@link leaveRecordsRaw}. */
  readonly raw?: Buffer;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

export interface RecordsBatch {
  readonly firstOffset: bigint;
  readonly lastOffsetDelta: number;
  readonly firstTimestamp: bigint;
  /** The broker's time, if the topic uses it. */
  readonly maxTimestamp: bigint;
  /** -1: none. */
  readonly producerId: bigint;
  readonly attributes: number;
  readonly records: readonly BatchRecord[];
  /** Reason if the batch cannot be read, and its size in the log. */
  readonly unreadable?: { readonly reason: string; readonly bytes: number };
}

export interface BatchRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
  /** Set if the record was too large. Value, key and headers are then incomplete. */
  readonly cut?: CutValue;
}

/** A value of which only the start was kept. */
export interface CutValue {
  readonly bytes: number;
  /** Hash of the whole value, in hex. */
  readonly sha256: string;
  /** The expected size of the record. */
  readonly reason: string;
}

export type Header = readonly [Buffer | null, Buffer | null];

export interface KafkaProducer extends Client {
  send(options: { messages: ProducedRecord[]; acks: number }): Promise<unknown>;
}

export interface ProducedRecord {
  readonly topic: string;
  /** Default: the partition of the key. */
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

/** The Kafka client cannot be used. The message says what to install. */
export class KafkaUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KafkaUnavailableError";
  }
}

/**
 * Loads the Kafka client, which is installed beside this package.
 *
 * @throws KafkaUnavailableError if it is not installed, does not run on this Node version, or lacks methods of version
 *   2.
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
    hasConnections(module.Consumer) &&
    "compressionsAlgorithms" in module &&
    "Producer" in module &&
    hasMethods(module.Producer, PRODUCER_METHODS)
  );
}

/** The size of records can only be bounded with access to connections. */
function hasConnections(made: unknown): boolean {
  return typeof made === "function" && "connections" in Object(made.prototype);
}

function hasMethods(made: unknown, methods: readonly string[]): boolean {
  if (typeof made !== "function") return false;
  const { prototype } = made;
  return methods.every((name) => typeof prototype?.[name] === "function");
}

/** Options of every connection to the brokers. */
export interface ClientOptions {
  readonly clientId: string;
  /** `host:port` for each broker. */
  readonly bootstrapBrokers: string[];
  readonly tls?: TlsOptions;
  readonly sasl?: SaslOptions;
  /** Time limit for an answer of a broker, in ms. A join waits for other members. */
  readonly requestTimeout?: number;
}

/** PEM texts. Default for `ca`: the authorities that Node knows. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface SaslOptions {
  readonly mechanism: SaslMechanism;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}

export const SASL_MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] as const;

export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

/**
 * Whether an error of the client, or one of its causes, is the protocol error of this name, such as
 * `OFFSET_OUT_OF_RANGE`.
 */
export function isProtocolError(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  if ("apiId" in error && error.apiId === name) return true;
  if (isProtocolError(error.cause, name)) return true;
  if (!("errors" in error) || !Array.isArray(error.errors)) return false;
  return error.errors.some((one) => isProtocolError(one, name));
}

/** Whether an error of the client, or one of its causes, is an answer of a broker. */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("apiId" in error && typeof error.apiId === "string") return true;
  if (isAnswer(error.cause)) return true;
  return "errors" in error && Array.isArray(error.errors) && error.errors.some(isAnswer);
}

const TOPIC_REFUSALS = [
  "UNKNOWN_TOPIC_OR_PARTITION",
  "UNKNOWN_TOPIC_ID",
  "TOPIC_AUTHORIZATION_FAILED",
  "INVALID_TOPIC_EXCEPTION",
];

/**
 * Whether an error is about a topic that is missing or forbidden. Other topics may work. For metadata requests the
 * client reports a missing topic only by its message.
 */
export function isTopicRefused(error: unknown): boolean {
  if (error instanceof Error && error.message.startsWith("Unknown topic ")) return true;
  return TOPIC_REFUSALS.some((name) => isProtocolError(error, name));
}

/** The message of a client's error. Its causes say more than it does. */
export function kafkaMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return [...new Set(error.errors.map(kafkaMessage))].join("; ");
  }
  if ("apiId" in error && typeof error.apiId === "string") return error.apiId;
  return error.message || error.name;
}
