import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type LineTaker,
  PartitionProcessor,
  type PartitionProcessorOptions,
  type Reject,
} from "../../../src/service/kafka/partition-processor.ts";
import type { TopicRecord } from "../../../src/service/kafka/topic-record.ts";
import type { ProcessorLine } from "../../../src/service/processor/log-processor-options.ts";
import { untilHolds } from "../../e2e/support/until.ts";
import { NO_FIGURES } from "./processor-figures.ts";
import { record } from "./records.ts";

const RULES = { dialect: undefined, dialects: ["entelix"], trusted: true };

/** A log processor that stores at once what it is given, unless it is told otherwise. */
class TestLane implements LineTaker {
  readonly taken: ProcessorLine[] = [];
  readonly idles: number[] = [];
  readonly closes: number[] = [];
  reject: Reject = async () => {};
  onTake: (line: ProcessorLine) => Promise<void> | undefined = () => undefined;
  needed: number | undefined;
  #next = 0;

  take(line: ProcessorLine) {
    this.taken.push(line);
    this.#next = line.more === true ? line.offset : line.offset + 1;
    return this.onTake(line);
  }

  async idle(nowMs: number) {
    this.idles.push(nowMs);
  }

  async settle() {
    return this.needed ?? this.#next;
  }

  async close(graceMs: number) {
    this.closes.push(graceMs);
  }

  get figures(): LineTaker["figures"] {
    throw new Error("not expected");
  }
}

describe("PartitionProcessor", () => {
  const open: PartitionProcessor[] = [];
  afterEach(() => Promise.all(open.splice(0).map((processor) => processor.end(0))));

  function start(options: Partial<PartitionProcessorOptions> = {}) {
    const inner = new TestLane();
    const errors: string[] = [];
    const buried: [number, string | undefined][] = [];
    const processor = new PartitionProcessor({
      topic: "events",
      partition: 0,
      from: 0,
      start: 0,
      rules: RULES,
      makeProcessor: (reject) => {
        inner.reject = reject;
        return inner;
      },
      toDeadLetter: async ({ offset }, value) => void buried.push([offset, value?.toString()]),
      onLost: () => {},
      onHungry: () => {},
      onReplaced: () => {},
      onError: (error) => errors.push(String(error)),
      ...options,
    });
    open.push(processor);
    return { processor, inner, errors, buried };
  }

  function chunk(offsets: readonly number[], fields: Partial<TopicRecord> = {}) {
    const records = offsets.map((offset) => record({ offset, ...fields }));
    const next = (offsets.at(-1) ?? -1) + 1;
    return { records, lost: [], next, end: next, logEnd: next, bytes: 1 };
  }

  async function stored(processor: PartitionProcessor, offset: number) {
    await untilHolds(`stored up to ${offset}`, () => {
      processor.settle();
      expect(processor.stored).toBe(offset);
    });
  }

  it("plays records in order, and tells up to where all is stored", async () => {
    const { processor, inner } = start();
    expect(processor.behind).toBeUndefined();
    processor.deliver(chunk([0, 1, 4]));
    expect(processor.next).toBe(5);
    await stored(processor, 5);
    expect(inner.taken.map(({ offset }) => offset)).toEqual([0, 1, 4]);
    expect(processor.behind).toBe(0);
  });

  it("commits no further than the processor still needs", async () => {
    const { processor, inner } = start();
    inner.needed = 1;
    processor.deliver(chunk([0, 1, 2]));
    await stored(processor, 1);
    inner.needed = undefined;
    await stored(processor, 3);
  });

  it("passes over what no line came of: transactions' ends at the end of the log", async () => {
    const { processor } = start();
    processor.deliver({ ...chunk([0, 1]), next: 4, end: 4 });
    await stored(processor, 4);
  });

  it("counts what is behind to the end of the log, also while it stands still", async () => {
    const { processor, inner } = start();
    inner.onTake = () => new Promise(() => {});
    expect(processor.endIsOld).toBe(true);
    processor.deliver({ ...chunk([0]), logEnd: 3 });
    expect(processor.endIsOld).toBe(false);
    await untilHolds("taken", () => expect(inner.taken).toHaveLength(1));
    expect(processor.behind).toBe(3);
    processor.endsAt(101);
    expect(processor.behind).toBe(101);
  });

  it("counts nothing behind that was compacted away at the end, but what is in a transaction", async () => {
    const { processor } = start();
    processor.deliver({ ...chunk([0]), end: 5, logEnd: 8 });
    await stored(processor, 1);
    expect(processor.behind).toBe(7);
    processor.deliver({ ...chunk([]), next: 1, end: 5, logEnd: 8, emptyTo: 5 });
    expect(processor.behind).toBe(3);
  });

  it("is stuck while it does not move though records wait, unless its stores are stalled", async () => {
    let figures: LineTaker["figures"] = NO_FIGURES;
    const { processor, inner } = start();
    vi.spyOn(inner, "figures", "get").mockImplementation(() => figures);
    let go = () => {};
    inner.onTake = () => new Promise<void>((resolve) => (go = resolve));
    processor.deliver(chunk([0, 1]));
    await untilHolds("taken", () => expect(inner.taken).toHaveLength(1));
    await untilHolds("stuck", () => expect(processor.stuckMs).toBeGreaterThan(20));
    figures = { ...NO_FIGURES, stalled: true };
    expect(processor.stuckMs).toBe(0);
    figures = NO_FIGURES;
    await untilHolds("stuck", () => expect(processor.stuckMs).toBeGreaterThan(20));
    go();
    await untilHolds("moved", () => expect(inner.taken).toHaveLength(2));
    expect(processor.stuckMs).toBe(0);
    go();
    await untilHolds("played", () => expect(processor.behind).toBe(0));
    await sleep(20);
    expect(processor.stuckMs).toBe(0);
  });

  it("counts a dead letter that is not taken as under way, and then as a store that is stalled", async () => {
    const { processor, inner } = start({ toDeadLetter: () => new Promise(() => {}) });
    vi.spyOn(inner, "figures", "get").mockReturnValue(NO_FIGURES);
    processor.deliver(chunk([0], { value: Buffer.from([0xff]) }));
    await untilHolds("under way", () => expect(processor.figures.inFlight).toBe(1));
    expect(processor.figures.stalled).toBe(false);
    processor.tick();
    const later = Date.now() + 11_000;
    vi.spyOn(Date, "now").mockReturnValue(later);
    expect(processor.figures.stalled).toBe(true);
    vi.mocked(Date.now).mockRestore();
  });

  it("skips what can't be read, and names and counts it once from the committed offset on", async () => {
    const counts: number[] = [];
    const { processor, inner, errors } = start({ from: 2, onLost: (n) => counts.push(n) });
    const lost = [
      { first: 0, last: 1, reason: "damaged", bytes: 70 },
      { first: 1, last: 4, reason: "too long", bytes: 80 },
    ];
    processor.deliver({ ...chunk([5]), lost });
    await stored(processor, 6);
    expect(inner.taken.map(({ offset }) => offset)).toEqual([5]);
    expect(counts).toEqual([3]);
    expect(errors).toEqual([
      "Error: offsets 2 to 4 cannot be read, and are lost: too long; their batch has 80 bytes in the log",
    ]);
  });

  it("sends a record that was too large to the dead letters, and nothing of it to the processor", async () => {
    const { processor, inner, buried } = start();
    const cut = { bytes: 9_000, sha256: "abc", reason: "at most 1000 bytes" };
    processor.deliver(chunk([0], { value: Buffer.from("beginning"), cut }));
    await stored(processor, 1);
    expect(buried).toEqual([[0, "beginning"]]);
    expect(inner.taken).toEqual([]);
  });

  it("asks for no more behind a chunk that is large", () => {
    const { processor, inner } = start();
    inner.onTake = () => new Promise(() => {});
    processor.deliver({ ...chunk([0]), bytes: 16 * 1024 * 1024 });
    expect(processor.hungry).toBe(false);
  });

  it("never falls behind what was committed while it reads what is before", async () => {
    const { processor, inner } = start({ from: 10, start: 5 });
    processor.deliver(chunk([5, 6]));
    await untilHolds("played", () => expect(inner.taken).toHaveLength(2));
    processor.settle();
    await sleep(1);
    expect(processor.stored).toBe(10);
  });

  it("gives the lines of one record one offset, which is done with the last of them", async () => {
    const { processor, inner } = start();
    processor.deliver(chunk([3], { value: Buffer.from('{"a":1}\n{"b":2}\n{"c":3}') }));
    await stored(processor, 4);
    expect(inner.taken.map(({ offset, text, more }) => [offset, text, more])).toEqual([
      [3, '{"a":1}', true],
      [3, '{"b":2}', true],
      [3, '{"c":3}', undefined],
    ]);
  });

  it("holds back the commit until a dead letter is safe", async () => {
    let safe = () => {};
    const toDeadLetter = () => new Promise<void>((resolve) => (safe = resolve));
    const { processor, inner } = start({ toDeadLetter });
    const bad = record({ offset: 1, value: Buffer.from([0xff]) });
    processor.deliver({ ...chunk([]), records: [record({ offset: 0 }), bad], next: 2, end: 2 });
    processor.deliver(chunk([2, 3]));
    await untilHolds("played", () => expect(inner.taken).toHaveLength(3));
    await stored(processor, 1);
    safe();
    await stored(processor, 4);
  });

  it("buries a line that the processor rejects: it alone where its record has several", async () => {
    const { processor, inner, buried } = start();
    inner.onTake = (line) =>
      line.text.includes("bad")
        ? inner.reject(line, [{ field: "type", expected: "x" }])
        : undefined;
    processor.deliver(chunk([0], { value: Buffer.from('{"bad":0}') }));
    processor.deliver(chunk([1], { value: Buffer.from('{"a":1}\n{"bad":1}') }));
    await stored(processor, 2);
    expect(buried).toEqual([
      [0, '{"bad":0}'],
      [1, '{"bad":1}'],
    ]);
  });

  it("keeps of what was fetched only what it buries, for as long as that takes", async () => {
    const kept: TopicRecord[] = [];
    const toDeadLetter: PartitionProcessorOptions["toDeadLetter"] = (record) => {
      kept.push(record);
      return new Promise(() => {});
    };
    const { processor, inner } = start({ toDeadLetter });
    inner.onTake = (line) => void inner.reject(line, [{ field: "type", expected: "x" }]);
    const batch = Buffer.alloc(1_000_000, "x");
    batch[0] = 0xff;
    const headers = [[batch.subarray(1, 4), batch.subarray(4, 8)]] as const;
    const key = batch.subarray(8, 12);
    processor.deliver(chunk([0], { value: batch.subarray(0, 10), headers, key }));
    processor.deliver(chunk([1], { value: batch.subarray(1, 10), headers, key }));
    await untilHolds("buried", () => expect(kept).toHaveLength(2));
    expect(kept.map((record) => record.value?.toString("latin1"))).toEqual([
      "\xffxxxxxxxxx",
      "xxxxxxxxx",
    ]);
    const parts = kept.flatMap(({ headers: [header], key, value }) => [
      key,
      value,
      ...(header ?? []),
    ]);
    expect(parts.map((part) => part?.buffer === batch.buffer)).toEqual(Array(8).fill(false));
  });

  it("reads no further while too much is on its way to be buried", async () => {
    let safe = () => {};
    const toDeadLetter = vi.fn(() => new Promise<void>((resolve) => (safe = resolve)));
    const { processor } = start({ toDeadLetter });
    const value = Buffer.alloc(16 * 1024 * 1024, 0xff);
    processor.deliver(chunk([0, 1, 2, 3, 4, 5], { value }));
    await untilHolds("full", () => expect(toDeadLetter).toHaveBeenCalledTimes(4));
    await sleep(20);
    expect(toDeadLetter).toHaveBeenCalledTimes(4);
    safe();
    await untilHolds("goes on", () => expect(toDeadLetter).toHaveBeenCalledTimes(5));
  });

  it("does not toDeadLetter again what is before the committed offset", async () => {
    const { processor, buried } = start({ from: 2, start: 0 });
    const value = Buffer.from([0xff]);
    processor.deliver(chunk([0, 1, 2], { value }));
    await stored(processor, 3);
    expect(buried.map(([offset]) => offset)).toEqual([2]);
  });

  it("asks for more only while there is room", async () => {
    let go = () => {};
    const { processor, inner } = start();
    inner.onTake = () => new Promise<void>((resolve) => (go = resolve));
    expect(processor.hungry).toBe(true);
    processor.deliver(chunk([0]));
    processor.deliver(chunk([1]));
    expect(processor.hungry).toBe(false);
    await untilHolds("taken", () => expect(inner.taken).toHaveLength(1));
    go();
    await untilHolds("hungry", () => expect(processor.hungry).toBe(true));
    await untilHolds("taken", () => expect(inner.taken).toHaveLength(2));
    go();
  });

  it("lets time pass only at the end of the log", async () => {
    const { processor, inner } = start();
    processor.deliver({ ...chunk([0]), end: 5 });
    await untilHolds("played", () => expect(inner.taken).toHaveLength(1));
    processor.deliver({ ...chunk([]), next: 1, end: undefined });
    await sleep(700);
    expect(inner.idles).toEqual([]);
    processor.deliver({ ...chunk([]), next: 1, end: 1 });
    await untilHolds("idle", () => expect(inner.idles.length).toBeGreaterThan(0));
  });

  it("hands over though its processor stands still: what is stored is known, the rest is not played", async () => {
    const { processor, inner, errors } = start();
    inner.onTake = ({ offset }) => (offset === 1 ? new Promise(() => {}) : undefined);
    processor.deliver(chunk([0, 1, 2]));
    await untilHolds("taken", () => expect(inner.taken).toHaveLength(2));
    inner.needed = 1;
    await stored(processor, 1);
    await processor.end(10);
    expect(processor.stored).toBe(1);
    expect(inner.closes).toHaveLength(1);
    expect(inner.taken).toHaveLength(2);
    expect(processor.hungry).toBe(false);
    expect(errors).toEqual([]);
  });

  it("settles a last time when it hands over", async () => {
    const { processor, inner } = start();
    processor.deliver(chunk([0, 1]));
    await untilHolds("played", () => expect(inner.taken).toHaveLength(2));
    await processor.end(5_000);
    expect(processor.stored).toBe(2);
  });
});
