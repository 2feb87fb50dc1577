import type { FetchedPartition, FetchResponse, KafkaConsumer } from "./kafka-library.ts";

/** The used part of the client's connections. */
interface Connection {
  send(key: number, version: number, payload: unknown, parse: Parser, ...more: unknown[]): void;
}
interface Connections {
  get(broker: unknown, callback: (error: Error | null, connection?: Connection) => void): unknown;
}
type Parser = (id: number, key: number, version: number, reader: ResponseReader) => unknown;
interface ResponseReader {
  readonly buffer: ResponseBytes;
}
/** A list of buffers. */
interface ResponseBytes {
  readonly buffer: Buffer;
  subarray(start?: number, end?: number): ResponseBytes;
}

const FETCH = 1;
const BATCH_HEAD = 61;

/**
 * Makes a consumer return fetched records as bytes, in `raw` of each partition. The client itself decodes a whole
 * answer at once, without limits: a batch of 1 MB may decompress to 1 GB or contain 10 million records, and a damaged
 * one fails the answer every time.
 */
export function leaveRecordsRaw(consumer: KafkaConsumer): void {
  const { connections } = consumer;
  if (!isConnections(connections)) return;
  const fetch = consumer.fetch.bind(consumer);
  // The client keeps a session for each pool, so the pool must stay the same.
  const connectionPool: Connections = {
    get: (broker, callback) =>
      connections.get(broker, (error, connection) =>
        callback(error, connection && rawConnection(connection)),
      ),
  };
  consumer.fetch = (options) => fetch({ ...options, connectionPool });
}

function isConnections(value: unknown): value is Connections {
  return (
    typeof value === "object" && value !== null && "get" in value && typeof value.get === "function"
  );
}

function rawConnection(connection: Connection): Connection {
  return {
    send: (key, version, payload, parse, ...more) =>
      connection.send(key, version, payload, key === FETCH ? rawParser(parse) : parse, ...more),
  };
}

/**
 * The client's own parser, which knows all versions of the answer, without its decoding of records: it gets an empty
 * batch with a number for each sub-array of records that it requests.
 */
function rawParser(parse: Parser): Parser {
  return (id, key, version, reader) => {
    const sections: ResponseBytes[] = [];
    const bytes = reader.buffer;
    const subarray = bytes.subarray.bind(bytes);
    bytes.subarray = (start, end) => {
      sections.push(subarray(start, end));
      return placeholder(bytes, sections.length - 1);
    };
    const response = parse(id, key, version, reader);
    if (isResponse(response)) {
      for (const { partitions } of response.responses) {
        for (const partition of partitions) {
          const number = partition.records?.[0]?.firstOffset;
          const section = number === undefined ? undefined : sections[Number(number)];
          if (section !== undefined) setRaw(partition, section.buffer);
        }
      }
    }
    return response;
  };
}

function placeholder(bytes: ResponseBytes, number: number): ResponseBytes {
  const batch = Buffer.alloc(BATCH_HEAD);
  batch.writeBigInt64BE(BigInt(number));
  // The number of bytes after the length.
  batch.writeInt32BE(BATCH_HEAD - 12, 8);
  return Reflect.construct(bytes.constructor, [batch]);
}

function setRaw(partition: FetchedPartition, raw: Buffer): void {
  Object.assign(partition, { raw, records: [] });
}

function isResponse(value: unknown): value is FetchResponse {
  return typeof value === "object" && value !== null && "responses" in value;
}
