// npm run build && node bench/scale.mjs [EVENTS] [--slices] [--audit] [--profile]: how a topic's events are worked off
// by one, two and three workers on this machine, as ratios, and the CPU that each record takes. Wants a quiet machine.
// Nothing is asserted.
//
// Every count of workers is a group of its own with the same records from its topic's beginning. It first works off
// others, so that its programs are warm; then a barrier hides what is written until all of it is there, and time runs
// from its lifting until everything is played and stored.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CpuProfile } from "../support/cpu-profile.ts";
import { cpuSeconds, machineSeconds, mainThreadSeconds, treeSeconds } from "../support/cpu-time.ts";
import { portOf } from "../support/free-ports.ts";
import { BARRIER_LINES, KafkaBarrier } from "../support/kafka-barrier.ts";
import { KafkaBroker } from "../support/kafka-broker.ts";
import { KafkaGroup } from "../support/kafka-group.ts";
import { installedCommand } from "../support/kafka-package.ts";
import { beginFor, KafkaWorkload } from "../support/kafka-workload.ts";
import { keep } from "../support/keeper.ts";
import { type Look, middleRate } from "../support/middle-rate.ts";
import { PostgresServer } from "../support/postgres.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Each worker runs in every third slice of time only: what they would do with a core each. */
    slices: { type: "boolean", default: false },
    /** With the audit log in a PostgreSQL. */
    audit: { type: "boolean", default: false },
    /** One worker alone, and where its CPU goes. */
    profile: { type: "boolean", default: false },
  },
});

const EVENTS = Number(positionals[0] ?? 200_000);
/** Those that are worked off before, so that programs are compiled: a share of the others. */
const WARMING = Math.max(5_000, Math.round(EVENTS / 4));
const PARTITIONS = 6;
/** One again at last: what it does otherwise than before is the machine's, not the workers'. */
const COUNTS = values.profile ? [1] : [1, 2, 3, 1];
const SLICES = 3;
const SLICE_MS = 20;
/** Event time of the first stream, and of the first that is worked off before: it ends before the other begins. */
const BEGIN_MS = beginFor(EVENTS);
const WARM_BEGIN_MS = BEGIN_MS - (Date.now() - beginFor(WARMING));
/** Between two looks at the workers, in ms. */
const LOOK_MS = 250;
/** What is stored of what was in flight. */
const STORED = ["spans_stored_total", "rows_stored_total"];

/** CPU times, in s. */
interface Cpu {
  readonly workers: number;
  readonly mainThreads: number;
  readonly broker: number;
  readonly database: number;
  readonly own: number;
  readonly machine: number;
}

const broker = await KafkaBroker.start();
const postgres = values.audit ? await PostgresServer.start() : undefined;
// Takes spans and looks at none, so that it costs little of what is measured.
const receiver = createServer((request, response) => {
  request.resume().once("end", () => {
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
try {
  const command = await installedCommand(join(broker.folder, "installed"), broker.installed.client);
  await broker.createTopics("dead:1");
  let alone: number | undefined;
  for (const [round, count] of COUNTS.entries()) {
    const rate = await measure(count, `events-${round}`, command, alone);
    alone ??= rate;
  }
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await postgres?.stop();
  await broker.stop();
}

/**
 * One round, with a topic and a group of that name.
 *
 * @param alone the rate of one worker. @returns records a second.
 */
async function measure(
  count: number,
  topic: string,
  command: string,
  alone: number | undefined,
): Promise<number> {
  const profile = values.profile ? new CpuProfile(join(broker.folder, topic)) : undefined;
  await broker.createTopics(`${topic}:${PARTITIONS}`);
  const group = await KafkaGroup.start(count, {
    name: topic,
    broker,
    command,
    args: [
      ...["--topic", topic, "--group", topic, "--dead-letter", "dead", "--service-name", "agents"],
      // A grace below the session timeout of these tests; runs that are cut off end while others go on.
      ...["--grace", "2", "--run-age", "5"],
      ...["--endpoint", `http://127.0.0.1:${portOf(receiver)}`],
      ...(await auditOptions(topic)),
    ],
    env: profile?.env ?? {},
  });
  try {
    // Of an empty topic: nothing moves between them once there are records.
    await group.shared(PARTITIONS);
    const warm = await produce(topic, WARMING, 2, WARM_BEGIN_MS);
    await worked(group, { records: warm.records, before: 0 });
    const barrier = await KafkaBarrier.hold(broker, topic, PARTITIONS);
    const load = await produce(topic, EVENTS, 1, BEGIN_MS);
    const records = load.records + BARRIER_LINES * PARTITIONS;
    const first = await group.figures();
    const pids = group.workers.map(({ pid }) => pid);
    await profile?.begin(pids[0]);
    const endSlices = values.slices ? slice(pids) : async () => {};
    const before = await cpuTimes(pids);
    const begun = performance.now();
    await barrier.lift();
    const looks = await worked(group, {
      records: load.readable,
      before: first.get("lines_total") ?? 0,
    });
    const cpu = difference(await cpuTimes(pids), before);
    await endSlices();
    await group.shared(PARTITIONS);
    const sums = await group.figures();
    const grown = (name: string) => (sums.get(name) ?? 0) - (first.get(name) ?? 0);
    const [spans, rows] = [grown("spans_stored_total"), grown("rows_stored_total")];

    const last = looks.at(-1) ?? { ms: begun, done: 1 };
    const rate = (middleRate(looks) * records) / last.done;
    const seconds = (last.ms - begun) / 1000;
    const each = (cpuS: number, count = records) => `${((cpuS / count) * 1e6).toFixed(1)} µs`;
    const others = cpu.machine - cpu.workers - cpu.broker - cpu.database - cpu.own;
    const cores = (cpuS: number) => (cpuS / seconds).toFixed(2);
    console.log(
      [
        `${count} worker${count > 1 ? "s" : ""}: ${rate.toFixed(0)} records/s`,
        `, ${(rate / (alone ?? rate)).toFixed(2)} times one`,
        `; all ${records} played and stored in ${seconds.toFixed(1)} s, ${spans} spans`,
        values.audit ? `, ${rows} rows` : "",
        `; CPU a record: ${each(cpu.workers)} in workers (${each(cpu.mainThreads)} in main threads)`,
        `, ${each(cpu.broker)} in the broker`,
        values.audit ? `; a row: ${each(cpu.database, rows)} in PostgreSQL` : "",
        `; cores busy: ${cores(cpu.machine)} of ${availableParallelism()}`,
        `, ${cores(others)} with nothing of this, ${cores(cpu.own)} with the receiver`,
      ].join(""),
    );
    if (profile !== undefined) console.log(await profile.end(pids[0], cpu, records));
    return rate;
  } finally {
    await group.kill();
  }
}

async function auditOptions(name: string): Promise<readonly string[]> {
  if (postgres === undefined) return [];
  await postgres.sql(`create database "${name}"`);
  const url = new URL(postgres.url());
  url.pathname = `/${name}`;
  return ["--audit", url.href];
}

async function produce(topic: string, events: number, seed: number, beginMs: number) {
  const workload = new KafkaWorkload({ events, seed, beginMs });
  await broker.produce(topic, workload.all());
  const { records, streams, unreadable } = workload;
  console.log(`${topic}: ${workload.events} events of ${streams} streams in ${records} records`);
  return { records, readable: records - unreadable.size };
}

/** Looks at a group until it has played so many records and has stored all of it. */
async function worked(
  group: KafkaGroup,
  { before, records }: { readonly before: number; readonly records: number },
): Promise<readonly Look[]> {
  const looks: Look[] = [{ ms: performance.now(), done: 0 }];
  let wanted: number | undefined;
  for (;;) {
    const sums = await group.figures();
    const lines = (sums.get("lines_total") ?? 0) - before;
    looks.push({ ms: performance.now(), done: lines });
    const of = (name: string) => sums.get(name) ?? 0;
    const stored = STORED.reduce((all, name) => all + of(name), 0);
    // Nothing is behind, either, where nobody has seen yet that there is something.
    const played = lines >= records && of("behind_records") + of("waiting_lines") === 0;
    // Runs of which nothing comes any more grow old from now on: their spans are not waited for.
    if (played) wanted ??= stored + of("in_flight");
    if (wanted !== undefined && (stored >= wanted || of("in_flight") === 0)) return looks;
    await sleep(LOOK_MS);
  }
}

async function cpuTimes(pids: readonly (number | undefined)[]): Promise<Cpu> {
  const sum = async (of: typeof cpuSeconds, all: typeof pids) =>
    (await Promise.all(all.map(of))).reduce((total, each) => total + each, 0);
  const { system, user } = process.cpuUsage();
  return {
    workers: await sum(cpuSeconds, pids),
    mainThreads: await sum(mainThreadSeconds, pids),
    broker: await cpuSeconds(broker.server.pid),
    database: postgres === undefined ? 0 : await treeSeconds(postgres.folder),
    own: (user + system) / 1e6,
    machine: await machineSeconds(),
  };
}

function difference(after: Cpu, before: Cpu): Cpu {
  return {
    workers: after.workers - before.workers,
    mainThreads: after.mainThreads - before.mainThreads,
    broker: after.broker - before.broker,
    database: after.database - before.database,
    own: after.own - before.own,
    machine: after.machine - before.machine,
  };
}

/** @returns what has all of them run again. */
function slice(pids: readonly (number | undefined)[]): () => Promise<void> {
  const args = [SLICES, SLICE_MS, ...pids].map(String);
  const child = spawn(process.execPath, [at("time-slices.mjs"), ...args], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  keep(child);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return () => {
    child.stdin.end();
    return ended;
  };
}
