import { expect, it } from "vitest";
import type { FetchOptions, FetchResponse } from "../../../src/service/kafka/kafka-library.ts";
import { leaveRecordsRaw } from "../../../src/service/kafka/raw-records.ts";
import { encodeBatch } from "./batches.ts";
import { consumer } from "./records.ts";

/** Bytes in pieces, as the client keeps an answer. */
class Pieces {
  readonly buffers: readonly Buffer[];

  constructor(buffers: Buffer | readonly Buffer[]) {
    this.buffers = Buffer.isBuffer(buffers) ? [buffers] : buffers;
  }

  get buffer(): Buffer {
    return Buffer.concat(this.buffers);
  }

  subarray(start = 0, end?: number): Pieces {
    return new Pieces(this.buffer.subarray(start, end));
  }
}

/**
 * A connection of a client that decodes one half of the bytes for each of two partitions, and none for the one between.
 */
function connection(bytes: Buffer, decoded: Buffer[]) {
  return {
    send(key: number, _: number, __: unknown, parse: unknown, ...rest: unknown[]) {
      const callback = rest.at(-1);
      if (typeof parse !== "function" || typeof callback !== "function")
        throw new Error("expected functions");
      const reader = { buffer: new Pieces([bytes.subarray(0, 50), bytes.subarray(50)]) };
      callback(null, parse(1, key, 17, reader));
    },
    /** The client's own parser. */
    parse: (_: number, __: number, ___: number, { buffer }: { buffer: Pieces }): FetchResponse => {
      const records = (at: number) => {
        const section = buffer.subarray(
          (at * bytes.length) / 2,
          ((at + 1) * bytes.length) / 2,
        ).buffer;
        decoded.push(section);
        return [
          {
            firstOffset: section.readBigInt64BE(0),
            lastOffsetDelta: 0,
            firstTimestamp: 0n,
            maxTimestamp: 0n,
            producerId: -1n,
            attributes: 0,
            records: [],
          },
        ];
      };
      const partition = { highWatermark: 9n, lastStableOffset: 9n };
      return {
        responses: [
          {
            topicId: "id",
            partitions: [
              { partitionIndex: 0, ...partition, records: records(0) },
              { partitionIndex: 1, ...partition, records: null },
              { partitionIndex: 2, ...partition, records: records(1) },
            ],
          },
        ],
      };
    },
  };
}

it("keeps the client from decoding records, and has the bytes of each partition", async () => {
  const value = Buffer.alloc(500, "v");
  const batches = [0, 7].map((base) => encodeBatch({ base, records: [{ value }] }));
  const decoded: Buffer[] = [];
  const broker = connection(Buffer.concat(batches), decoded);
  const pools = new Set<unknown>();
  const reader = consumer({
    connections: {
      get: (_: unknown, callback: (error: null, made: typeof broker) => void) =>
        callback(null, broker),
    },
    // As the client asks a broker through a pool.
    fetch: ({ connectionPool }) =>
      new Promise((resolve) => {
        pools.add(connectionPool);
        const pool: unknown = connectionPool;
        if (!isPool(pool)) throw new Error("expected a pool");
        pool.get("broker", (_, made) =>
          made.send(
            1,
            17,
            () => {},
            broker.parse,
            true,
            true,
            (__: null, answer: FetchResponse) => resolve(answer),
          ),
        );
      }),
  });
  leaveRecordsRaw(reader);
  const options: FetchOptions = { node: 1, maxWaitTime: 1, minBytes: 1, maxBytes: 1, topics: [] };
  const { responses } = await reader.fetch(options);
  await reader.fetch(options);
  const partitions = responses[0]?.partitions ?? [];
  expect(partitions.map(({ raw }) => raw)).toEqual([batches[0], undefined, batches[1]]);
  expect(partitions.map(({ records }) => records)).toEqual([[], null, []]);
  // What it decoded is a batch of no records.
  expect(decoded.map((bytes) => [bytes.length, bytes.readInt32BE(57)])).toEqual(
    Array(4).fill([61, 0]),
  );
  // The client keeps its sessions by the pool.
  expect(pools.size).toBe(1);
});

interface Pool {
  get(
    broker: string,
    callback: (error: null, made: { send(...args: unknown[]): void }) => void,
  ): void;
}

function isPool(value: unknown): value is Pool {
  return typeof value === "object" && value !== null && "get" in value;
}
