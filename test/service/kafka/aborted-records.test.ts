import { describe, expect, it } from "vitest";
import type { RecordsBatch } from "../../../src/service/kafka/kafka-library.ts";
import { readBatches } from "../../../src/service/kafka/topic-record.ts";

const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
const ABORT = 0;
const COMMIT = 1;

function batch(fields: Partial<RecordsBatch> & { readonly keys: readonly Buffer[] }): RecordsBatch {
  const { keys, ...others } = fields;
  return {
    firstOffset: 0n,
    lastOffsetDelta: keys.length - 1,
    firstTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: -1n,
    attributes: 0,
    records: keys.map((key, offsetDelta) => {
      return { offsetDelta, timestampDelta: 0n, key, value: Buffer.from("{}"), headers: [] };
    }),
    ...others,
  };
}

/** Two records from this offset on. */
function data(producerId: bigint, firstOffset: bigint, attributes = TRANSACTIONAL): RecordsBatch {
  return batch({ producerId, firstOffset, attributes, keys: [Buffer.from("a"), Buffer.from("b")] });
}

function marker(producerId: bigint, firstOffset: bigint, kind: number): RecordsBatch {
  const attributes = TRANSACTIONAL | CONTROL;
  return batch({ producerId, firstOffset, attributes, keys: [Buffer.from([0, 0, 0, kind])] });
}

function offsets(
  batches: readonly RecordsBatch[],
  ...aborted: readonly [producerId: bigint, firstOffset: bigint][]
): readonly number[] {
  const transactions = aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset }));
  const from = Number(batches[0]?.firstOffset ?? 0n);
  const where = { topic: "t", partition: 0, from, end: 100, logEnd: 100 };
  const { records } = readBatches({ ...where, batches, aborted: transactions });
  return records.map(({ offset }) => offset);
}

describe("records of aborted transactions", () => {
  it("are left out where the transaction goes on behind the answer", () => {
    expect(offsets([data(7n, 0n), data(8n, 2n), data(7n, 4n)], [7n, 0n])).toEqual([2, 3]);
  });

  it("are left out where it began before the answer, up to its end", () => {
    const batches = [data(7n, 20n), marker(7n, 22n, ABORT), data(7n, 23n), marker(7n, 25n, COMMIT)];
    expect(offsets(batches, [7n, 4n])).toEqual([23, 24]);
    // Of the transaction only its end is in the answer.
    expect(offsets(batches.slice(1), [7n, 4n])).toEqual([23, 24]);
  });

  it("are left out of each of several attempts of one producer", () => {
    const batches = [
      ...[data(7n, 0n), marker(7n, 2n, ABORT)],
      ...[data(7n, 3n), marker(7n, 5n, COMMIT)],
      ...[data(7n, 6n), marker(7n, 8n, ABORT)],
      ...[data(7n, 9n), marker(7n, 11n, COMMIT)],
    ];
    // As a broker tells them, in no order.
    expect(offsets(batches, [7n, 6n], [7n, 0n])).toEqual([3, 4, 9, 10]);
  });

  it("are no others: other producers' between them, and those in no transaction", () => {
    const batches = [data(7n, 0n), data(9n, 2n), data(7n, 4n, 0), marker(9n, 6n, ABORT)];
    expect(offsets(batches, [7n, 0n])).toEqual([2, 3, 4, 5]);
    expect(offsets(batches)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("still count for where reading goes on", () => {
    const transactions = [{ producerId: 7n, firstOffset: 0n }];
    const where = { topic: "t", partition: 0, from: 0, end: 2, logEnd: 2 };
    const batches = [data(7n, 0n)];
    expect(readBatches({ ...where, batches, aborted: transactions })).toMatchObject({
      records: [],
      next: 2,
    });
  });
});
