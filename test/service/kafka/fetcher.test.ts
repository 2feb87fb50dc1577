import { afterEach, describe, expect, it } from "vitest";
import { Fetcher, type FetchTarget } from "../../../src/service/kafka/fetcher.ts";
import type {
  ClusterMetadata,
  FetchOptions,
  FetchResponse,
  KafkaConsumer,
} from "../../../src/service/kafka/kafka-library.ts";
import type { RecordChunk } from "../../../src/service/kafka/topic-record.ts";
import { until, untilHolds } from "../../e2e/support/until.ts";
import { consumer, protocolError } from "./records.ts";

/** Two partitions with one leader, a third with another. */
const METADATA: ClusterMetadata = {
  topics: new Map([
    [
      "events",
      {
        id: "id-of-events",
        partitionsCount: 3,
        partitions: [1, 1, 2].map((leader) => ({ leader, leaderEpoch: 0 })),
      },
    ],
  ]),
};

class Target implements FetchTarget {
  readonly topic = "events";
  readonly partition: number;
  readonly chunks: RecordChunk[] = [];
  next = 0;
  hungry = true;
  replacements = 0;

  constructor(partition: number) {
    this.partition = partition;
  }

  deliver(chunk: RecordChunk) {
    this.chunks.push(chunk);
    this.next = chunk.next;
    this.hungry = false;
  }

  moveTo(offset: number) {
    this.next = offset;
  }

  replaced() {
    this.replacements++;
  }
}

/** A broker's answer: so many records for each partition. */
function answer(options: FetchOptions, counts: Readonly<Record<number, number>>): FetchResponse {
  return {
    responses: options.topics.map(({ topicId, partitions }) => ({
      topicId,
      partitions: partitions.flatMap(({ partition, fetchOffset }) => {
        const count = counts[partition];
        if (count === undefined) return [];
        const batch = {
          firstOffset: fetchOffset,
          lastOffsetDelta: count - 1,
          firstTimestamp: 0n,
          maxTimestamp: 0n,
          producerId: -1n,
          attributes: 0,
          records: Array.from({ length: count }, (_, offsetDelta) => ({
            offsetDelta,
            timestampDelta: 0n,
            key: null,
            value: Buffer.from("{}"),
            headers: [],
          })),
        };
        return [
          {
            partitionIndex: partition,
            highWatermark: 102n,
            lastStableOffset: 100n,
            records: [batch],
          },
        ];
      }),
    })),
  };
}

describe("Fetcher", () => {
  const open: Fetcher[] = [];
  afterEach(() => Promise.all(open.splice(0).map((fetcher) => fetcher.close())));

  function start(parts: Partial<KafkaConsumer>) {
    const errors: string[] = [];
    const tracked: string[] = [];
    const fetcher = new Fetcher(
      consumer({
        metadata: async () => METADATA,
        topics: { track: (topic) => tracked.push(topic) > 0, untrack: () => true },
        ...parts,
      }),
      "events",
      { maxRecordBytes: 1000, client: undefined },
      (error, where) => errors.push(`${where}: ${String(error)}`),
    );
    open.push(fetcher);
    return { fetcher, errors, tracked };
  }

  it("asks each leader for all of its hungry partitions at once, and waits for no other", async () => {
    const asked: [number, number[]][] = [];
    const { fetcher, tracked } = start({
      fetch: async (options) => {
        const partitions = options.topics.flatMap((topic) => topic.partitions);
        asked.push([options.node, partitions.map(({ partition }) => partition)]);
        // The first leader never answers.
        return options.node === 1 ? new Promise(() => {}) : answer(options, { 2: 3 });
      },
    });
    const targets = [0, 1, 2].map((partition) => new Target(partition));
    for (const target of targets) fetcher.add(target);
    await untilHolds("delivered", () => {
      expect(targets[2]?.chunks.map(({ records }) => records.length)).toEqual([3]);
    });
    expect(asked.filter(([node]) => node === 2)).toEqual([[2, [2]]]);
    expect(tracked).toEqual(["events"]);
    expect(targets[2]?.chunks[0]).toMatchObject({ next: 3, end: 100 });
  });

  it("reads on where the target is, when it is woken", async () => {
    const offsets: bigint[] = [];
    const { fetcher } = start({
      fetch: async (options) => {
        offsets.push(options.topics[0]?.partitions[0]?.fetchOffset ?? -1n);
        return answer(options, { 0: 2 });
      },
    });
    const target = new Target(0);
    fetcher.add(target);
    await untilHolds("first", () => expect(target.next).toBe(2));
    target.hungry = true;
    fetcher.wake();
    await untilHolds("second", () => expect(target.next).toBe(4));
    expect(offsets).toEqual([0n, 2n]);
  });

  it("says that nothing came where the broker left a partition out", async () => {
    const { fetcher } = start({ fetch: async (options) => answer(options, {}) });
    const target = new Target(0);
    fetcher.add(target);
    const chunk = await until("delivered", () => target.chunks[0]);
    expect(chunk).toEqual({
      records: [],
      lost: [],
      next: 0,
      end: undefined,
      logEnd: undefined,
      bytes: 0,
    });
  });

  it("drops what comes for a target that was taken away", async () => {
    let respond = () => {};
    const { fetcher } = start({
      fetch: (options) =>
        new Promise((resolve) => {
          respond = () => resolve(answer(options, { 0: 1 }));
        }),
    });
    const target = new Target(0);
    fetcher.add(target);
    await untilHolds("asked", () => expect(respond.length + target.chunks.length).toBe(0));
    const again = new Target(0);
    fetcher.remove(target);
    fetcher.add(again);
    respond();
    await untilHolds("asked again", () => {
      respond();
      expect(again.chunks).toHaveLength(1);
    });
    expect(target.chunks).toEqual([]);
  });

  it("tries again what failed, and tells of it", async () => {
    let asked = 0;
    const { fetcher, errors } = start({
      fetch: async (options) => {
        asked++;
        if (asked === 1) throw new Error("connection closed");
        return answer(options, { 0: 1 });
      },
    });
    const target = new Target(0);
    fetcher.add(target);
    await untilHolds("delivered", () => expect(target.next).toBe(1));
    expect(errors).toEqual(["fetch from broker 1: Error: connection closed"]);
  });

  /** A log that has the offsets 20 to 89. */
  const SHORT: Partial<KafkaConsumer> = {
    fetch: async (options) => {
      const at = options.topics[0]?.partitions[0]?.fetchOffset ?? 0n;
      if (at < 20n || at > 90n) throw protocolError("OFFSET_OUT_OF_RANGE");
      return answer(options, { 0: 1 });
    },
    listOffsets: async ({ timestamp }) => new Map([["events", [timestamp === -2n ? 20n : 90n]]]),
  };

  it("goes on at the beginning of the log when what comes next was removed, and says so", async () => {
    const { fetcher, errors } = start(SHORT);
    const target = new Target(0);
    target.next = 5;
    fetcher.add(target);
    await untilHolds("delivered", () => expect(target.next).toBe(21));
    expect(target.replacements).toBe(0);
    expect(errors).toEqual([
      "events/0: Error: offsets 5 to 19 are not in the log any more; reading goes on at 20",
    ]);
  });

  it("does not go on in a log that ends before what comes next: it is another one", async () => {
    const { fetcher, errors } = start(SHORT);
    const target = new Target(0);
    target.next = 95;
    fetcher.add(target);
    await untilHolds("replaced", () => expect(target.replacements).toBe(1));
    expect(target).toMatchObject({ chunks: [], next: 95 });
    expect(errors).toEqual([
      "events/0: Error: the log was cut or made anew: it ends at 90, but 95 is the next offset to read",
    ]);
  });

  it("does not go on in a topic that was made anew, however long it is by now", async () => {
    let id = "first";
    const { fetcher, errors } = start({
      metadata: async () => {
        const topics = [...METADATA.topics].map(
          ([name, topic]) => [name, { ...topic, id }] as const,
        );
        return { topics: new Map(topics) };
      },
      fetch: async (options) => answer(options, { 0: 2, 2: 2 }),
    });
    const targets = [new Target(0), new Target(2)];
    for (const target of targets) fetcher.add(target);
    await untilHolds("delivered", () => expect(targets.map(({ next }) => next)).toEqual([2, 2]));
    id = "second";
    for (const target of targets) target.hungry = true;
    fetcher.wake();
    await untilHolds("replaced", () => {
      expect(targets.map(({ replacements }) => replacements)).toEqual([1, 1]);
    });
    expect(targets.map(({ next }) => next)).toEqual([2, 2]);
    expect(errors.at(-1)).toBe(
      "events/2: Error: the log was cut or made anew: the topic has another id",
    );
  });
});
