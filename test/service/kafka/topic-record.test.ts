import { describe, expect, it } from "vitest";
import type { RecordsBatch } from "../../../src/service/kafka/kafka-library.ts";
import { readBatches } from "../../../src/service/kafka/topic-record.ts";

function batch(firstOffset: bigint, values: readonly string[], attributes = 0): RecordsBatch {
  return {
    firstOffset,
    lastOffsetDelta: values.length - 1,
    firstTimestamp: 1000n,
    maxTimestamp: 1000n + BigInt(values.length * 10),
    attributes,
    producerId: -1n,
    records: values.map((value, offsetDelta) => ({
      offsetDelta,
      timestampDelta: BigInt(offsetDelta * 10),
      key: null,
      value: Buffer.from(value),
      headers: [],
    })),
  };
}

function read(from: number, end: number, batches: readonly RecordsBatch[]) {
  return readBatches({ topic: "t", partition: 3, from, end, logEnd: end + 2, batches });
}

describe("readBatches", () => {
  it("gives records their offsets and times", () => {
    const { records, next, end, logEnd, bytes } = read(5, 9, [batch(5n, ["a", "bc"])]);
    expect(records.map(({ offset, timestampMs }) => [offset, timestampMs])).toEqual([
      [5, 1000],
      [6, 1010],
    ]);
    expect(records[0]).toMatchObject({ topic: "t", partition: 3 });
    expect({ next, end, logEnd, bytes }).toEqual({ next: 7, end: 9, logEnd: 11, bytes: 3 });
  });

  it("gives records the broker's time where the topic has that (LogAppendTime)", () => {
    const appended = { ...batch(5n, ["a", "b"], 0x08), maxTimestamp: 9_000n };
    const { records } = read(5, 7, [appended]);
    expect(records.map(({ timestampMs }) => timestampMs)).toEqual([9_000, 9_000]);
  });

  it("leaves out what a batch has before the offset that was asked for", () => {
    const { records, next } = read(7, 8, [batch(5n, ["a", "b", "c"])]);
    expect(records.map(({ offset }) => offset)).toEqual([7]);
    expect(next).toBe(8);
  });

  it("passes over what ends transactions, and over what compaction has removed", () => {
    const compacted = { ...batch(6n, ["a"]), lastOffsetDelta: 4 };
    const { records, next } = read(5, 11, [batch(5n, ["x"], 0x20), compacted]);
    expect(records.map(({ offset }) => offset)).toEqual([6]);
    expect(next).toBe(11);
  });

  it("names what can't be read from the offset on, and what an aborted transaction has not", () => {
    const unreadable = { reason: "damaged", bytes: 70 };
    const batches = [
      { ...batch(4n, []), lastOffsetDelta: 2, unreadable },
      batch(7n, ["a"]),
      { ...batch(8n, [], 0x10), producerId: 7n, lastOffsetDelta: 0, unreadable },
    ];
    const aborted = [{ producerId: 7n, firstOffset: 8n }];
    const where = { topic: "t", partition: 3, from: 5, end: 9, logEnd: 9 };
    const { lost, next, records } = readBatches({ ...where, batches, aborted });
    expect(lost).toEqual([{ first: 5, last: 6, ...unreadable }]);
    expect(records.map(({ offset }) => offset)).toEqual([7]);
    expect(next).toBe(9);
  });

  it("stays where it is when nothing came", () => {
    expect(read(5, 5, [])).toEqual({
      records: [],
      lost: [],
      next: 5,
      end: 5,
      logEnd: 7,
      bytes: 0,
    });
  });
});
