import type { ClientAlgorithms } from "./decompress.ts";

/** What is used of `@platformatic/kafka`: an optional peer, so its own types are not at hand here. */
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
  /** Its pool of connections. */
  readonly connections?: unknown;
  joinGroup(options: object, callback?: (error: Error | null) => void): Promise<string> | undefined;
  leaveGroup(force?: boolean): Promise<void>;
  commit(options: { offsets: CommittedOffset[] }): Promise<void>;
  /** -1 where nothing was committed, at the index of the partition. */
  listCommittedOffsets(options: { topics: TopicPartitions[] }): Promise<OffsetsByTopic>;
  listOffsets(options: {
    topics: string[];
    partitions?: Record<string, number[]>;
    timestamp?: bigint;
    /** 0: of the log altogether. Default 1: of what readers of committed transactions see. */
    isolationLevel?: number;
  }): Promise<OffsetsByTopic>;
  /** @param options `connectionPool`: in place of its own. */
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
  /** The broker holds this client back; it may leave out what it has. */
  readonly throttleTimeMs?: number;
  readonly responses: readonly {
    readonly topicId: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedPartition {
  readonly partitionIndex: number;
  /** Where the log ends; behind the other while a transaction is open. */
  readonly highWatermark: bigint;
  /** Where the log ends for readers of committed transactions. */
  readonly lastStableOffset: bigint;
  /** Those that have records in this answer, or began before it and end behind it. */
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
  readonly records?: readonly RecordsBatch[] | null;
  /** The records as bytes, where the client was kept from decoding them. */
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
  /** The broker's own time, where the topic's records have that. */
  readonly maxTimestamp: bigint;
  /** -1: none. */
  readonly producerId: bigint;
  readonly attributes: number;
  readonly records: readonly BatchRecord[];
  /** It can't be read: why, and how many bytes it has in the log. */
  readonly unreadable?: { readonly reason: string; readonly bytes: number };
}

export interface BatchRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly Header[];
  /** It was too large to be read: value, key and headers are there in part. */
  readonly cut?: CutValue;
}

/** What a value was of which only the beginning was kept. */
export interface CutValue {
  readonly bytes: number;
  /** Of all of it, in hex. */
  readonly sha256: string;
  /** What was expected of the record. */
  readonly reason: string;
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
    hasConnections(module.Consumer) &&
    "compressionsAlgorithms" in module &&
    "Producer" in module &&
    hasMethods(module.Producer, PRODUCER_METHODS)
  );
}

/** Without them records could not be bounded. */
function hasConnections(made: unknown): boolean {
  return typeof made === "function" && "connections" in Object(made.prototype);
}

function hasMethods(made: unknown, methods: readonly string[]): boolean {
  if (typeof made !== "function") return false;
  const { prototype } = made;
  return methods.every((name) => typeof prototype?.[name] === "function");
}

/** What every connection to the brokers is made with. */
export interface ClientOptions {
  readonly clientId: string;
  /** `host:port` each. */
  readonly bootstrapBrokers: string[];
  readonly tls?: TlsOptions;
  readonly sasl?: SaslOptions;
  /** How long a broker may take to answer, in ms. A join waits for the other members. */
  readonly requestTimeout?: number;
}

/** PEM texts. Without `ca`, the authorities that Node knows. */
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
 * Whether an error of the client, or one of those it consists of, is the protocol's error of this name:
 * `OFFSET_OUT_OF_RANGE`.
 */
export function isProtocolError(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  if ("apiId" in error && error.apiId === name) return true;
  if (isProtocolError(error.cause, name)) return true;
  if (!("errors" in error) || !Array.isArray(error.errors)) return false;
  return error.errors.some((one) => isProtocolError(one, name));
}

/** Whether an error of the client, or one of those it consists of, is what a broker has answered. */
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
 * Whether it is about a topic that is not there, or not for this client: the others may be well. In answers
 * to metadata requests the client has only words for the first.
 */
export function isTopicRefused(error: unknown): boolean {
  if (error instanceof Error && error.message.startsWith("Unknown topic ")) return true;
  return TOPIC_REFUSALS.some((name) => isProtocolError(error, name));
}

/** What an error of the client says: those it consists of say more than it does. */
export function kafkaMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return [...new Set(error.errors.map(kafkaMessage))].join("; ");
  }
  if ("apiId" in error && typeof error.apiId === "string") return error.apiId;
  return error.message || error.name;
}
