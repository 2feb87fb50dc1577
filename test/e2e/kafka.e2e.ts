import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { KafkaBroker } from "./support/kafka-broker.ts";
import { installedCommand } from "./support/kafka-package.ts";
import { SpanBook, SpanReceiver } from "./support/kafka-span-book.ts";
import { KafkaWorker } from "./support/kafka-worker.ts";
import { KafkaWorkload } from "./support/kafka-workload.ts";
import { untilHolds } from "./support/until.ts";

const PARTITIONS = 4;

describe("consume, on a real broker", () => {
  let broker: KafkaBroker;
  let receiver: SpanReceiver;
  let command: string;
  const workers: KafkaWorker[] = [];

  beforeAll(async () => {
    [broker, receiver] = await Promise.all([KafkaBroker.start(), SpanReceiver.start()]);
    command = await installedCommand(join(broker.folder, "installed"), broker.installed.client);
    await broker.createTopics("dead:1");
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    receiver.book = new SpanBook();
  });
  afterAll(async () => {
    await receiver?.stop();
    await broker?.stop();
  });

  /** A topic of its own for each test, with its group. */
  async function topic(name: string, events: number): Promise<KafkaWorkload> {
    const workload = new KafkaWorkload({ events, seed: events, beginMs: Date.now() - 600_000 });
    await broker.createTopics(`${name}:${PARTITIONS}`);
    expect(await broker.produce(name, workload.all())).toBe(workload.records);
    return workload;
  }

  async function start(
    name: string,
    of: string,
    { endpoint = receiver.url, more = [] }: { endpoint?: string; more?: readonly string[] } = {},
  ): Promise<KafkaWorker> {
    const worker = new KafkaWorker({
      name: `${of}-${name}`,
      broker,
      command,
      args: [
        ...["--topic", of, "--group", of, "--dead-letter", "dead"],
        ...["--run-age", "5", "--grace", "2", "--service-name", "agents"],
        ...["--endpoint", endpoint],
        ...more,
      ],
    });
    workers.push(worker);
    await worker.start();
    return worker;
  }

  /** Resolves when the worker has so many partitions, and has done all there is. */
  function done(worker: KafkaWorker, partitions: number): Promise<boolean> {
    return untilHolds(
      `${worker.options.name} has done all of ${partitions} partitions`,
      async () => {
        const figures = await worker.figures();
        expect(figures.get("known_partitions")).toBe(partitions);
        const left = ["behind_records", "waiting_lines", "in_flight", "open_runs"];
        expect(left.map((name) => figures.get(name))).toEqual([0, 0, 0, 0]);
      },
      { timeoutMs: 90_000 },
    );
  }

  it("hands partitions over to a second worker without reading anything twice", async () => {
    await topic("handed", 2_000);
    const first = await start("first", "handed", { more: ["--lookback", "0"] });
    await done(first, PARTITIONS);
    const spans = receiver.book.hashes.size;
    expect(spans).toBeGreaterThan(200);
    const committed = await untilHolds("all was committed", async () => {
      const { deadLetters, records } = await sums(first);
      expect(deadLetters).toBeGreaterThan(0);
      expect((await first.figures()).get("committed_offset")).toBe(records);
    });
    expect(committed).toBe(true);

    const second = await start("second", "handed", { more: ["--lookback", "0"] });
    await done(second, PARTITIONS / 2);
    await done(first, PARTITIONS / 2);
    expect((await second.figures()).get("lines_total")).toBe(0);
    expect(receiver.book.copies).toBe(0);
    expect(await second.stop()).toBe(0);
    await done(first, PARTITIONS);
    expect(await first.stop()).toBe(0);
    expect(receiver.book.hashes.size).toBe(spans);
    expect(await first.said()).toMatch(/released: handed\/\d, handed\/\d\n/);
  });

  /** How many lines a worker was given and what it buried: together all records, for one line a record. */
  async function sums(worker: KafkaWorker) {
    const figures = await worker.figures();
    const deadLetters = figures.get("dead_letters_total") ?? 0;
    return { deadLetters, records: await endOf(worker.options.args[1] ?? "") };
  }

  async function endOf(name: string): Promise<number> {
    let records = 0;
    for await (const _ of broker.read(name)) records++;
    return records;
  }

  it("a worker that stood still loses its partitions, and does no harm when it goes on", async () => {
    await topic("stood", 8_000);
    const still = await start("still", "stood");
    await still.ready();
    await untilHolds("its last lines wait to be put in order", async () => {
      const figures = await still.figures();
      expect(figures.get("behind_records")).toBe(0);
      expect(figures.get("waiting_lines")).toBeGreaterThan(0);
    });
    const { pid } = still;
    if (pid === undefined) throw new Error("expected a worker that runs");
    process.kill(pid, "SIGSTOP");
    const other = await start("other", "stood");
    // Its session is over, so the other one has all of them.
    await done(other, PARTITIONS);
    const spans = receiver.book.hashes.size;
    process.kill(pid, "SIGCONT");
    await done(still, PARTITIONS / 2);
    await done(other, PARTITIONS / 2);
    expect(await still.said()).toMatch(/lost: stood/);
    expect(await Promise.all([still.stop(), other.stop()])).toEqual([0, 0]);
    expect(receiver.book.hashes.size).toBe(spans);
    expect(receiver.book.differing).toEqual([]);
    expect(receiver.faults).toEqual([]);
  });

  it("waits for a collector that is away, and ends in order all the same", async () => {
    await topic("away", 1_000);
    const waiting = await start("waiting", "away", { endpoint: "http://127.0.0.1:9" });
    await untilHolds("it stands still", async () => {
      expect((await waiting.figures()).get("in_flight")).toBeGreaterThan(0);
    });
    // Longer than its session: its heartbeats go on.
    await sleep(8_000);
    expect((await waiting.figures()).get("partitions")).toBe(PARTITIONS);
    expect((await waiting.figures()).get("spans_stored_total")).toBe(0);
    expect(await waiting.stop()).toBe(0);
    expect(receiver.book.hashes.size).toBe(0);

    const next = await start("next", "away");
    await done(next, PARTITIONS);
    expect(await next.stop()).toBe(0);
    expect(receiver.book.hashes.size).toBeGreaterThan(100);
  });

  it("says what is wrong, and ends with 1, when there is no such topic", async () => {
    const worker = await start("lost", "no-such-topic");
    await untilHolds("it has ended", () => expect(worker.pid).toBeUndefined());
    expect(await worker.stop()).toBe(1);
    expect(await worker.said()).toContain("Unknown topic no-such-topic");
  });

  it("says what to install where the client is not", async () => {
    const shipped = join(import.meta.dirname, "../../dist/cli/main.mjs");
    const args = ["consume", "--brokers", "127.0.0.1:1", "--topic", "t", "--dead-letter", "none"];
    const run = promisify(execFile)(process.execPath, [
      ...[shipped, ...args],
      ...["--endpoint", "http://127.0.0.1:1"],
    ]);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Run: npm install @platformatic/kafka@^2.12"),
    });
  });
});
