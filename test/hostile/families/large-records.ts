import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { KafkaService } from "../../../src/service/door.ts";
import { encodeBatch, type TestBatch, type TestRecord } from "../../service/kafka/batches.ts";
import { FakeBroker, type FakeRules } from "../../service/kafka/fake-kafka.ts";
import { LineKeeper } from "../../service/kafka/line-keeper.ts";
import { protocolError } from "../../service/kafka/records.ts";
import type { Random } from "../../support/random.ts";
import type { Family } from "../family.ts";
import type { Trial } from "../trial.ts";

const MAX_RECORD = 200_000;

/** Records of any size on brokers that fail: the partition goes on, and each record is somewhere, once. */
export const largeRecords: Family = {
  name: "large-records",
  about:
    "records and batches of any size and damage, and brokers that fail: each is played, a dead letter, or lost by name",
  async run(trials, size) {
    const options = { width: 8, boundMs: 120_000 };
    await trials.each("brokers that take all", size.of(40, 5), work(everything), options);
    await trials.each("brokers that refuse", size.of(40, 5), work(refusing), options);
    await trials.each("brokers that close", size.of(24, 4), work(closing), options);
    await trials.each("brokers that go away", size.of(24, 4), work(away), options);
  },
};

/** How a broker treats letters and requests. */
interface Behaviour extends FakeRules {
  /** Letters may be lost. */
  readonly loses: boolean;
}

const NOTHING = () => {};
const everything = (): Behaviour => ({ onRequest: NOTHING, onProduced: NOTHING, loses: false });

function refusing(random: Random): Behaviour {
  const most = random.below(2) === 0 ? 2_000 : 10_000;
  const name = random.of(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"]);
  return {
    onRequest: NOTHING,
    onProduced: ({ value }) => {
      if ((value?.length ?? 0) > most) throw protocolError(name);
    },
    loses: true,
  };
}

function closing(random: Random): Behaviour {
  const most = random.below(2) === 0 ? 2_000 : 100_000;
  return {
    onRequest: NOTHING,
    onProduced: ({ value }) => {
      if ((value?.length ?? 0) > most) throw new Error("Connection closed");
    },
    loses: true,
  };
}

/** Each request may fail, and for a while all of them do: no letter may be lost by that. */
function away(random: Random): Behaviour {
  const from = Date.now() + random.below(300);
  const until = from + 500 + random.below(3_000);
  return {
    onRequest: (what) => {
      const now = Date.now();
      const out = now >= from && now < until;
      if (out || (what === "fetch" && random.chance(0.1))) throw new Error("Connection closed");
    },
    onProduced: NOTHING,
    loses: false,
  };
}

function work(behaviourOf: (random: Random) => Behaviour) {
  return async (trial: Trial) => {
    const behaviour = behaviourOf(trial.random);
    const broker = new FakeBroker(behaviour);
    const expected = fill(broker, trial.random);
    const played: number[] = [];
    const told: string[] = [];
    const service = new KafkaService(broker.library, {
      client: { clientId: "c", bootstrapBrokers: ["127.0.0.1:1"] },
      group: "g",
      instance: undefined,
      topics: ["events"],
      deadLetterTopic: "dead",
      lookback: 0,
      fromEnd: false,
      rules: { dialect: undefined, dialects: ["entelix"], trusted: true },
      maxRecordBytes: MAX_RECORD,
      sessionTimeoutMs: 6_000,
      graceMs: 100,
      makeProcessor: (_, __, reject) => new LineKeeper(String(LINE), played, reject),
      onError: (error, where) => told.push(`${where}: ${String(error)}`),
      onNotice: NOTHING,
    });
    await service.start();
    trial.atEnd(() => service.stop());
    // The bound of the trial ends it where the partition stands still.
    while (broker.committed < BigInt(broker.end) || service.partitions[0]?.behind !== 0) {
      await sleep(50);
    }
    judge(trial, { broker, expected, behaviour, played, told, service });
  };
}

/** Offsets that hold a record, and what has to come of it. */
type Kind = "line" | "letter" | "skipped" | "any";
type Expected = ReadonlyMap<number, Kind>;

function fill(broker: FakeBroker, random: Random): Expected {
  const expected = new Map<number, Kind>();
  const count = 5 + random.below(20);
  for (let i = 0; i < count; i++) {
    const base = broker.end;
    const batch = drawBatch(random, base);
    const data = encodeBatch(batch);
    const last = base + (batch.last ?? batch.records.length - 1);
    const damaged = batch.codec !== undefined && random.chance(0.15);
    if (damaged) data[61 + random.below(data.length - 61)] = random.below(256);
    broker.batches.push({ base, end: last + 1, data });
    for (let offset = base; offset <= last; offset++) {
      const record = batch.records[offset - base];
      if (damaged || record === undefined) expected.set(offset, "any");
      else if (batch.codec === BOMB) expected.set(offset, "skipped");
      else expected.set(offset, isLine(record) ? "line" : "letter");
    }
  }
  return expected;
}

const LINE = Buffer.from('{"type":"x"}');

function isLine({ key, value, headers = [] }: TestRecord): boolean {
  const large = (key?.length ?? 0) + (headers[0]?.[1]?.length ?? 0) > MAX_RECORD;
  return value === LINE && !large && headers.length <= 10_000;
}

/** Snappy that says it decompresses to 2 GB. */
const BOMB = { number: 2, compress: () => Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0]) };

function drawBatch(random: Random, base: number): TestBatch {
  const codec = random.chance(0.5)
    ? { number: 1, compress: (d: Buffer) => gzipSync(d) }
    : undefined;
  if (random.chance(0.05)) {
    return { base, records: [{}, {}], codec: BOMB };
  }
  const many = random.chance(0.1) ? 2_000 : 1 + random.below(4);
  return { base, codec, records: Array.from({ length: many }, () => drawRecord(random, many > 4)) };
}

function drawRecord(random: Random, small: boolean): TestRecord {
  const size = random.below(small ? 50 : 400_000);
  switch (random.below(small ? 3 : 7)) {
    case 0:
      return { value: null };
    case 1:
      return { value: Buffer.alloc(size, 0xff) };
    case 2:
      return { value: LINE, key: Buffer.alloc(size) };
    case 3:
      return { value: Buffer.alloc(size * 10, " ") };
    case 4: {
      const name = Buffer.from("h");
      return { value: LINE, headers: Array(random.below(12_000)).fill([name, null]) };
    }
    case 5:
      return { value: LINE, headers: [[Buffer.from("h"), Buffer.alloc(size)]] };
    default:
      return { value: LINE };
  }
}

interface Outcome {
  readonly broker: FakeBroker;
  readonly expected: Expected;
  readonly behaviour: Behaviour;
  readonly played: readonly number[];
  readonly told: readonly string[];
  readonly service: KafkaService;
}

function judge(
  trial: Trial,
  { behaviour, broker, expected, played, service, told }: Outcome,
): void {
  const letters = broker.produced.map(({ headers }) => {
    const found = [...headers].find(([name]) => String(name) === "entelix-offset");
    return Number(String(found?.[1]));
  });
  const given = told.flatMap((text) => {
    const found = /events\/0:(\d+) .*it was dropped/.exec(text);
    return found === null ? [] : [Number(found[1])];
  });
  const skipped = told.flatMap((text) => {
    const [, first, last] = /offsets (\d+) to (\d+) cannot be read, and are lost/.exec(text) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
  const counts = new Map<number, number>();
  for (const offset of [...played, ...letters, ...given, ...skipped]) {
    counts.set(offset, (counts.get(offset) ?? 0) + 1);
  }
  const found: Readonly<Record<Kind, ReadonlySet<number>>> = {
    line: new Set(played),
    letter: new Set([...letters, ...given]),
    skipped: new Set(skipped),
    any: new Set(expected.keys()),
  };
  for (const [offset, kind] of expected) {
    const times = counts.get(offset) ?? 0;
    // A damaged record may leave a gap, as compaction does.
    if (times === 0 && kind !== "any") trial.harm("lost", "each offset somewhere", `not ${offset}`);
    if (times > 1) trial.harm("doubled", "each offset once", `${offset} ${times} times`);
    if (!found[kind].has(offset)) trial.harm("lost", `${offset} as a ${kind}`, "something else");
  }
  trial.equal("dead letters", service.deadLetters, letters.length);
  trial.equal("dead letters lost", service.deadLettersLost, given.length);
  trial.equal("records lost", service.recordsLost, skipped.length);
  if (!behaviour.loses) trial.harm("lost", "no letter lost", `${given.length}`, given.length);
  trial.accept(played.length);
  trial.refuse(expected.size - played.length);
}
