import { createHash } from "node:crypto";
import { constants, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RecordsBatch } from "../../../src/service/kafka/kafka-library.ts";
import { runs } from "../../support/runs.ts";
import { decode, encodeBatch, type TestRecord } from "./batches.ts";

const GZIP = { number: 1, compress: (data: Buffer) => gzipSync(data) };

function texts(batches: readonly RecordsBatch[]) {
  return batches.flatMap(({ firstOffset, records }) =>
    records.map(({ offsetDelta, value }) => [Number(firstOffset) + offsetDelta, String(value)]),
  );
}

function next(batches: readonly RecordsBatch[]): number {
  const last = batches.at(-1);
  return last === undefined ? 0 : Number(last.firstOffset) + last.lastOffsetDelta + 1;
}

const record = (text: string): TestRecord => ({ value: Buffer.from(text) });

describe("decodeBatches", () => {
  it.each([
    ["plain", undefined],
    ["gzip", GZIP],
  ])("reads all of a batch: %s", (_, codec) => {
    const headers = [
      [Buffer.from("a"), Buffer.from("1")],
      [Buffer.from("b"), null],
    ] as const;
    const records: TestRecord[] = [
      { key: Buffer.from("k"), value: Buffer.from("v"), headers, timestampDelta: 5 },
      { key: null, value: null, timestampDelta: -3 },
      { value: Buffer.alloc(300, "x"), timestampDelta: 2 ** 40, delta: 7 },
    ];
    const batch = encodeBatch({ base: 10, records, codec, last: 8 });
    expect(decode(batch)).toEqual([
      {
        firstOffset: 10n,
        attributes: codec === undefined ? 0 : 1,
        lastOffsetDelta: 8,
        firstTimestamp: 1_000n,
        maxTimestamp: 2_000n,
        producerId: -1n,
        records: [
          {
            offsetDelta: 0,
            timestampDelta: 5n,
            key: Buffer.from("k"),
            value: Buffer.from("v"),
            headers,
          },
          { offsetDelta: 1, timestampDelta: -3n, key: null, value: null, headers: [] },
          {
            offsetDelta: 7,
            timestampDelta: 2n ** 40n,
            key: null,
            value: Buffer.alloc(300, "x"),
            headers: [],
          },
        ],
      },
    ]);
  });

  it("reads from an offset on, leaves out a batch that is there in part, and an end that is none", () => {
    const section = Buffer.concat([
      encodeBatch({ base: 0, records: [record("a"), record("b")] }),
      encodeBatch({ base: 2, records: [record("c"), record("d")], codec: GZIP }),
      encodeBatch({ base: 4, records: [record("e")] }),
    ]);
    expect(texts(decode(section, { from: 3 }))).toEqual([
      [3, "d"],
      [4, "e"],
    ]);
    expect(texts(decode(section.subarray(0, -1), { from: 1 }))).toEqual([
      [1, "b"],
      [2, "c"],
      [3, "d"],
    ]);
    expect(decode(section.subarray(0, 20))).toEqual([]);
  });

  it("keeps the beginning of a record that is too large, with the hash of its value", () => {
    const value = Buffer.alloc(20_000, "abc");
    const headers = [[Buffer.from("mine"), Buffer.from("x")]] as const;
    const records = [
      { key: Buffer.from("k"), value, headers },
      {
        key: Buffer.alloc(5_000),
        value: Buffer.from("v"),
        headers: [[Buffer.from("h"), Buffer.alloc(9_000)] as const],
      },
      record("small"),
    ];
    const [batch] = decode(encodeBatch({ records, codec: GZIP }), { maxRecordBytes: 10_000 });
    const sha256 = (data: Buffer) => createHash("sha256").update(data).digest("hex");
    const reason = "at most 10000 bytes with key and headers";
    expect(batch?.records).toMatchObject([
      {
        key: Buffer.from("k"),
        value: value.subarray(0, 4096),
        headers,
        cut: { bytes: 20_000, sha256: sha256(value), reason },
      },
      { key: null, value: Buffer.from("v"), headers: [], cut: { bytes: 1, reason } },
      { value: Buffer.from("small") },
    ]);
    expect(batch?.records[2]).not.toHaveProperty("cut");
  });

  it("takes a record with too many headers for one that is too large", () => {
    const headers = Array.from({ length: 10_001 }, () => [Buffer.from("h"), null] as const);
    const [batch] = decode(
      encodeBatch({
        records: [
          { ...record("v"), headers },
          { ...record("w"), headers: headers.slice(1) },
        ],
      }),
    );
    expect(batch?.records[0]?.cut).toMatchObject({
      bytes: 1,
      reason: "at most 10000 headers, got 10001",
    });
    expect(batch?.records[0]?.headers.length).toBeLessThanOrEqual(4096);
    expect(batch?.records[1]?.headers).toHaveLength(10_000);
    expect(batch?.records[1]).not.toHaveProperty("cut");
  });

  it("decodes no more than there is memory for, but always one record, and goes on in the same batch", () => {
    const section = Buffer.concat([
      encodeBatch({ records: Array.from({ length: 10 }, (_, i) => record(`r${i}`)), codec: GZIP }),
      encodeBatch({ base: 10, records: [record("last")] }),
    ]);
    const read: unknown[] = [];
    const sizes: number[] = [];
    let from = 0;
    while (from < 11) {
      const batches = decode(section, { from, budget: { bytes: 700 } });
      sizes.push(texts(batches).length);
      read.push(...texts(batches));
      from = next(batches);
    }
    expect(sizes).toEqual([3, 3, 3, 2]);
    expect(read).toEqual([...Array.from({ length: 10 }, (_, i) => [i, `r${i}`]), [10, "last"]]);
  });

  it("keeps nothing of a large batch in memory but what it returns", () => {
    const records = [record("a"), { value: Buffer.alloc(100_000) }, record("b")];
    const batches = decode(encodeBatch({ records, codec: GZIP }), {
      maxRecordBytes: 1000,
      budget: { bytes: 50_000 },
    });
    for (const { value } of batches.flatMap((batch) => batch.records)) {
      expect(value?.buffer.byteLength).toBeLessThanOrEqual(8192);
    }
  });

  it.each([
    [
      "is damaged",
      encodeBatch({
        records: [record("a")],
        last: 4,
        count: 5,
        codec: { number: 1, compress: (data) => gzipSync(data).fill(0, 10) },
      }),
      /^cannot be decompressed: Error: /,
    ],
    [
      "has another compression",
      encodeBatch({
        records: [record("a")],
        last: 4,
        count: 5,
        codec: { number: 5, compress: (data) => data },
      }),
      /^expected a known compression, got number 5$/,
    ],
    [
      "has an old format",
      encodeBatch({ records: [record("a")], last: 4, count: 5, magic: 1 }),
      /^expected records of format 2, got 1$/,
    ],
    [
      "decompresses to too much",
      encodeBatch({
        records: [record("a")],
        last: 4,
        count: 5,
        codec: { number: 2, compress: () => Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0]) },
      }),
      /^expected at most 134217728 bytes after decompression$/,
    ],
  ])("names a batch that %s, and reads the one behind it", (_, bad, reason) => {
    const batches = decode(Buffer.concat([bad, encodeBatch({ base: 5, records: [record("b")] })]));
    expect(batches[0]).toMatchObject({ firstOffset: 0n, lastOffsetDelta: 4, records: [] });
    expect(batches[0]?.unreadable?.reason).toMatch(reason);
    expect(batches[0]?.unreadable?.bytes).toBe(bad.length);
    expect(texts(batches)).toEqual([[5, "b"]]);
  });

  it("keeps what stands before the damage in a batch", () => {
    const whole = encodeBatch({ base: 7, records: [record("a"), record("b"), record("c")] });
    // The length of the second record.
    whole[61 + 8] = 0x7e;
    const batches = decode(whole);
    expect(texts(batches)).toEqual([[7, "a"]]);
    expect(batches.at(-1)).toMatchObject({
      firstOffset: 8n,
      lastOffsetDelta: 1,
      unreadable: { reason: "a record ends behind its batch", bytes: whole.length },
    });
    expect(next(batches)).toBe(10);
  });

  it("asks what LZ4 frames decompress to before they are given to the client", () => {
    const refuse = { decompressSync: () => Buffer.from("never") };
    const frame = (blocks: number) => {
      const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x70, 0]);
      const block = Buffer.from([1, 0, 0, 0, 0]);
      return Buffer.concat([head, ...Array(blocks).fill(block), Buffer.alloc(4)]);
    };
    const batch = (blocks: number) =>
      encodeBatch({ records: [], count: 1, codec: { number: 3, compress: () => frame(blocks) } });
    const client = { snappy: refuse, lz4: refuse };
    // Blocks of 4 MiB.
    expect(decode(batch(33), { client })[0]?.unreadable?.reason).toMatch(
      /^expected at most 134217728/,
    );
    expect(decode(batch(32), { client })[0]?.unreadable?.reason).not.toMatch(/^expected at most/);
  });

  it("reads or names no offset twice and always goes on, whatever bytes there are", () => {
    const anyRecord = fc.record({ value: fc.uint8Array({ maxLength: 40 }).map(Buffer.from) });
    const level = fc.constantFrom(undefined, {
      number: 1,
      compress: (data: Buffer) => gzipSync(data, { level: constants.Z_BEST_SPEED }),
    });
    const section = fc.array(
      fc.record({ records: fc.array(anyRecord, { minLength: 1, maxLength: 6 }), codec: level }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(
        section,
        fc.nat(),
        fc.nat(255),
        fc.integer({ min: 1, max: 2_000 }),
        (made, at, byte, bytes) => {
          let base = 0;
          const batches = made.map((one) => {
            const encoded = encodeBatch({ ...one, base });
            base += one.records.length;
            // Within the records: brokers check the head.
            encoded[61 + (at % (encoded.length - 61))] = byte;
            return encoded;
          });
          const data = Buffer.concat(batches);
          const seen: number[] = [];
          for (let from = 0; from < base; ) {
            const read = decode(data, { from, budget: { bytes } });
            for (const { firstOffset, lastOffsetDelta, records, unreadable } of read) {
              const first = Number(firstOffset);
              for (const { offsetDelta } of records) seen.push(first + offsetDelta);
              if (unreadable === undefined) continue;
              for (let i = Math.max(first, from); i <= first + lastOffsetDelta; i++) seen.push(i);
            }
            const after = next(read);
            expect(after).toBeGreaterThan(from);
            from = after;
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.every((offset) => offset >= 0 && offset < base)).toBe(true);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
