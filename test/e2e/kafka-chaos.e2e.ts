import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../support/random.ts";
import { KafkaBroker } from "./support/kafka-broker.ts";
import { type ForwardingCollector, forwardingCollector } from "./support/kafka-collector.ts";
import { KafkaGroup } from "./support/kafka-group.ts";
import { installedCommand } from "./support/kafka-package.ts";
import { SpanBook, SpanReceiver } from "./support/kafka-span-book.ts";
import { beginFor, KafkaWorkload } from "./support/kafka-workload.ts";
import { inForm } from "./support/long-form.ts";
import { PostgresServer, withConnection } from "./support/postgres.ts";

const EVENTS = inForm({ short: 40_000, long: 2_000_000 });
const SEED = Number(process.env.ENTELIX_SOAK_SEED ?? Date.now() % 1_000_000);
const LONG = EVENTS > 200_000;

const PARTITIONS = 6;
/** Records a second; `undefined`: as fast as it goes. Few events have to come slowly to be disturbed. */
const RATE = LONG ? undefined : 2_000;
/** Between one blow and the next, in ms, at least and at most. */
const [SOON_MS, LATE_MS] = LONG ? [10_000, 20_000] : [2_000, 5_000];
/** How long the collector is away, in ms: longer than any worker's patience with one request. */
const AWAY_MS = LONG ? 30_000 : 8_000;
/** Silent for so long, in event time, a run is over; streams take 2 s at most. */
const RUN_AGE_S = "10";
/** Longer than any stream; short, so that a worker comes to something new before it is killed. */
const LOOKBACK = "5000";
const PATIENCE_MS = LONG ? 1_800_000 : 120_000;

describe(`${EVENTS} events, workers killed, the collector away (seed ${SEED})`, () => {
  let broker: KafkaBroker;
  let receiver: SpanReceiver;
  let collector: ForwardingCollector;
  let postgres: PostgresServer;
  let command: string;
  const groups: KafkaGroup[] = [];
  const workload = new KafkaWorkload({
    events: EVENTS,
    seed: SEED,
    beginMs: beginFor(EVENTS),
  });

  beforeAll(async () => {
    [broker, receiver, postgres] = await Promise.all([
      KafkaBroker.start(),
      SpanReceiver.start(),
      PostgresServer.start(),
    ]);
    collector = await forwardingCollector(broker.folder, receiver.url);
    command = await installedCommand(join(broker.folder, "installed"), broker.installed.client);
    for (const database of ["chaos", "calm"]) await postgres.sql(`create database ${database}`);
    await broker.createTopics(`events:${PARTITIONS}`, "chaos-dead:1", "calm-dead:1");
  }, 300_000);

  afterAll(async () => {
    await Promise.all(groups.map((group) => group.kill()));
    await collector?.server.kill();
    await receiver?.stop();
    await postgres?.stop();
    await broker?.stop();
  });

  async function group(name: string, workers: number): Promise<KafkaGroup> {
    const started = await KafkaGroup.start(workers, {
      name,
      broker,
      command,
      args: [
        ...["--topic", "events", "--group", name, "--dead-letter", `${name}-dead`],
        ...["--lookback", LOOKBACK, "--run-age", RUN_AGE_S, "--grace", "2"],
        ...["--endpoint", collector.endpoint, "--audit", database(name)],
        ...["--service-name", "agents"],
      ],
    });
    groups.push(started);
    return started;
  }

  function database(name: string): string {
    const url = new URL(postgres.url());
    url.pathname = `/${name}`;
    return url.href;
  }

  it(
    "makes the spans and rows of one uninterrupted worker, each exactly once in effect",
    async () => {
      const chaos = await group("chaos", 3);
      let producing = true;
      const produced = broker.produce("events", workload.all(), RATE).finally(() => {
        producing = false;
      });
      const goesOn = async () => producing || (LONG && (await chaos.behind(PARTITIONS)) !== 0);
      const blows = await harass(chaos, collector, goesOn);
      expect(await produced).toBe(workload.records);
      await chaos.done(PARTITIONS, PATIENCE_MS);
      expect(await chaos.stop()).toEqual([0, 0, 0]);
      const harassed = receiver.book;
      // Else nothing was shown.
      expect(blows.kills).toBeGreaterThanOrEqual(3);
      expect(blows.outages).toBe(1);

      receiver.book = new SpanBook();
      const calm = await group("calm", 1);
      await calm.done(PARTITIONS, PATIENCE_MS);
      expect(await calm.stop()).toEqual([0]);
      const undisturbed = receiver.book;

      console.log(
        `${workload.events} events of ${workload.streams} streams in ${workload.records} records; ` +
          `${blows.kills} kills, ${blows.outages} outage; ${undisturbed.hashes.size} spans, ` +
          `${harassed.copies} of them sent again`,
      );
      expect(receiver.faults).toEqual([]);
      expect(undisturbed.hashes.size).toBeGreaterThan(workload.streams);
      expect(undisturbed.differing).toEqual([]);
      expect(harassed.differing).toEqual([]);
      expect(harassed.differences(undisturbed)).toEqual([]);
      expect(harassed.hashes.size).toBe(undisturbed.hashes.size);
    },
    PATIENCE_MS * 3,
  );

  it("wrote the same audit rows", async () => {
    const [chaos, calm] = await Promise.all([heads(database("chaos")), heads(database("calm"))]);
    expect(calm.size).toBeGreaterThan(1_000);
    const different = [...calm].filter(([thread, head]) => chaos.get(thread) !== head);
    expect(
      different.slice(0, 3).map(([thread, head]) => [thread, head, chaos.get(thread)]),
    ).toEqual([]);
    expect(chaos.size).toBe(calm.size);
  });

  it.each(["chaos", "calm"])(
    "%s: buried what could not be read, and nothing else",
    async (name) => {
      const keys = new Set<string>();
      for await (const { headers, key } of broker.read(`${name}-dead`)) {
        expect(headers["entelix-topic"]).toBe("events");
        expect(headers["entelix-reason"]).toMatch(/expected/);
        keys.add(key ?? "");
      }
      expect(keys).toEqual(workload.unreadable);
      expect(keys.size).toBeGreaterThan(10);
    },
  );
});

/** Kills workers at random and has them start again, and the collector once, while something goes on. */
async function harass(
  { workers }: KafkaGroup,
  { server }: ForwardingCollector,
  goesOn: () => Promise<boolean>,
): Promise<{ kills: number; outages: number }> {
  const random = new Random(SEED);
  const done = { kills: 0, outages: 0 };
  const back: Promise<void>[] = [];
  for (let blow = 0; ; blow++) {
    // Asked when those who are back have had time to go on.
    await sleep(SOON_MS + random.below(LATE_MS - SOON_MS));
    if (!(await goesOn())) break;
    if (blow === 1) {
      done.outages++;
      back.push(server.kill().then(() => sleep(AWAY_MS).then(() => server.start())));
      continue;
    }
    const worker = random.of(workers);
    if (worker.pid === undefined) continue;
    done.kills++;
    await worker.kill();
    back.push(sleep(random.below(3_000)).then(() => worker.start()));
  }
  await Promise.all(back);
  await Promise.all(workers.map((worker) => worker.ready()));
  return done;
}

/**
 * The last row of each thread: its hash covers all rows before it, and of each its run, event, trace
 * and span id and its content.
 */
function heads(url: string): Promise<Map<string, string>> {
  return withConnection(url, async (client) => {
    const { rows }: { rows: { thread: string; head: string }[] } = await client.query(
      `select tenant_id || '/' || thread_id as thread, ordinal || ':' || encode(hash, 'hex') as head
       from entelix.threads`,
    );
    return new Map(rows.map(({ thread, head }) => [thread, head]));
  });
}
