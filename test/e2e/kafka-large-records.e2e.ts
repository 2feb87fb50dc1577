import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { KafkaBroker } from "./support/kafka-broker.ts";
import { installedCommand } from "./support/kafka-package.ts";
import { SpanBook, SpanReceiver } from "./support/kafka-span-book.ts";
import { KafkaWorker } from "./support/kafka-worker.ts";
import { untilHolds } from "./support/until.ts";

/** What a worker may take at most, in bytes; the largest batch below decompresses to 300 MB. */
const MOST_MEMORY = 1024 ** 3;

describe("consume, where records are large", () => {
  let broker: KafkaBroker;
  let receiver: SpanReceiver;
  let command: string;
  const workers: KafkaWorker[] = [];

  beforeAll(async () => {
    [broker, receiver] = await Promise.all([KafkaBroker.start(), SpanReceiver.start()]);
    command = await installedCommand(join(broker.folder, "installed"), broker.installed.client);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    receiver.book = new SpanBook();
  });
  afterAll(async () => {
    await receiver?.stop();
    await broker?.stop();
  });

  async function start(topic: string): Promise<KafkaWorker> {
    const args = [
      "--topic",
      topic,
      "--group",
      topic,
      "--dead-letter",
      `${topic}-dead`,
      "--grace",
      "2",
    ];
    const worker = new KafkaWorker({
      name: topic,
      broker,
      command,
      args: [...args, "--run-age", "5", "--service-name", "agents", "--endpoint", receiver.url],
    });
    workers.push(worker);
    await worker.start();
    return worker;
  }

  /** Resolves when the worker has played all, and stored what came of it. */
  function done(worker: KafkaWorker, figures: Readonly<Record<string, number>>): Promise<boolean> {
    return untilHolds(
      "all is done",
      async () => {
        const found = await worker.figures();
        const wanted = { known_partitions: 1, behind_records: 0, in_flight: 0, ...figures };
        for (const [name, value] of Object.entries(wanted)) {
          expect([name, found.get(name)]).toEqual([name, value]);
        }
      },
      { timeoutMs: 100_000 },
    );
  }

  async function most(worker: KafkaWorker): Promise<number> {
    const status = await readFile(`/proc/${worker.pid}/status`, "utf8");
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  }

  it("plays what is behind 300 MB of blanks, in little memory, and has a dead letter of them", async () => {
    await broker.createTopics("blanks:1", "blanks-dead:1");
    await broker.produceOdd("blanks", "blanks:300000000:gzip", "runs:50");
    const worker = await start("blanks");
    await done(worker, { dead_letters_total: 1, dead_letters_cut_total: 1, records_lost_total: 0 });
    await untilHolds("its runs are there", () => expect(receiver.book.hashes.size).toBe(50));
    expect(await most(worker)).toBeLessThan(MOST_MEMORY);
    const { value: letter } = await broker.read("blanks-dead").next();
    expect(letter.headers).toMatchObject({
      "entelix-cut": "300000000",
      "entelix-offset": "0",
      "entelix-field": "record",
    });
    expect(Buffer.from(letter.base64 ?? "", "base64")).toEqual(Buffer.alloc(4096, " "));
  });

  it("skips a batch that no memory has room for, and counts and names it", async () => {
    await broker.createTopics("beyond:1", "beyond-dead:1");
    await broker.produceOdd("beyond", "runs:1", "blanks:600000000:gzip", "runs:50");
    const worker = await start("beyond");
    await done(worker, { dead_letters_total: 0, records_lost_total: 1 });
    await untilHolds("its runs are there", () => expect(receiver.book.hashes.size).toBe(51));
    expect(await worker.said()).toMatch(
      /beyond\/0:2: offsets 2 to 2 cannot be read, and are lost: expected at most 402653184 bytes after decompression; their batch has \d+ bytes in the log/,
    );
  });

  it.each(["gzip", "snappy", "lz4", "zstd"])("takes odd batches of %s", async (codec) => {
    await broker.createTopics(`${codec}:1`, `${codec}-dead:1`);
    const odd = [`tiny:20000:${codec}`, `key:900000:${codec}`, `headers:10001:${codec}`];
    await broker.produceOdd(codec, ...odd, `blanks:20000000:${codec}`, "runs:50");
    const worker = await start(codec);
    await done(worker, {
      rejected_total: 20_003,
      dead_letters_total: 20_003,
      dead_letters_cut_total: 2,
      dead_letters_lost_total: 0,
      records_lost_total: 0,
    });
    await untilHolds("its runs are there", () => expect(receiver.book.hashes.size).toBe(50));
  });
});
