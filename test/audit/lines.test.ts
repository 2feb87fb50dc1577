import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CommitChain, NO_COMMIT } from "../../src/audit/ndjson/commit-chain.ts";
import { fileLines } from "../../src/audit/ndjson/file-lines.ts";
import { ChunkPool, LineChunks } from "../../src/audit/ndjson/line-chunks.ts";
import {
  indexesIn,
  indexName,
  segmentName,
  segmentsIn,
} from "../../src/audit/ndjson/log-directory.ts";
import { MemoryDisk, seeded } from "./support/memory-disk.ts";

/** A file of some text, of which at most `piece` bytes come with each read. */
async function fileOf(bytes: Uint8Array, piece = Number.POSITIVE_INFINITY) {
  const file = await new MemoryDisk(seeded(1)).layer().open("/f", "create");
  for (let at = 0; at < bytes.length; ) at += await file.write(bytes.subarray(at), at);
  return {
    ...file,
    read: (into: Uint8Array, position: number) =>
      file.read(into.subarray(0, Math.min(into.length, piece)), position),
  };
}

async function collect(text: string, piece?: number, until?: number, longest?: number) {
  const bytes = Buffer.from(text);
  const file = await fileOf(bytes, piece);
  const lines = [];
  for await (const line of fileLines(file, until ?? bytes.length, longest)) {
    lines.push({ ...line, bytes: Buffer.from(line.bytes).toString() });
  }
  return lines;
}

describe("fileLines", () => {
  it("gives the lines of any text, however it is read, with where they stand", async () => {
    const text = fc.array(
      fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r"), maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (parts, piece) => {
        const whole = parts.join("\n");
        const lines = await collect(whole, piece);
        const expected = whole.split("\n");
        const last = expected.pop();
        if (last !== "" && last !== undefined) expected.push(last);
        expect(lines.map(({ bytes }) => bytes)).toEqual(expected);
        expect(lines.map(({ number }) => number)).toEqual(expected.map((_, index) => index + 1));
        let start = 0;
        for (const line of lines) {
          expect(line.start).toBe(start);
          start = line.end;
        }
        expect(start).toBe(Buffer.byteLength(whole));
        expect(lines.filter(({ ended }) => !ended)).toHaveLength(last === "" ? 0 : 1);
      }),
      { numRuns: 200 },
    );
  });

  it("stops at the offset that it is given, and at the end of a file that shrank", async () => {
    expect(await collect("ab\ncd\n", undefined, 4)).toMatchObject([
      { bytes: "ab", ended: true },
      { bytes: "c", ended: false, end: 4 },
    ]);
    expect(await collect("ab\ncd\n", undefined, 400)).toHaveLength(2);
    expect(await collect("")).toEqual([]);
  });

  it("passes a line over that is too long to hold, and goes on behind it", async () => {
    const long = "x".repeat(3_000_000);
    const lines = await collect(`a\n${long}\nb\n${long}`, undefined, undefined, 500_000);
    expect(lines).toMatchObject([
      { number: 1, bytes: "a", tooLong: false },
      { number: 2, bytes: "", tooLong: true, ended: true, start: 2, end: 3_000_003 },
      { number: 3, bytes: "b", tooLong: false, start: 3_000_003 },
      { number: 4, bytes: "", tooLong: true, ended: false },
    ]);
    expect((await collect(`${long}\nb\n`))[0]?.bytes).toBe(long);
  });
});

describe("LineChunks", () => {
  it("holds any lines as UTF-8 with their newlines, and its chunks are used again", () => {
    const pool = new ChunkPool();
    const sizes = fc.array(
      fc.tuple(fc.constantFrom("a", "é", "漢", "😀"), fc.integer({ min: 0, max: 300_000 })),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(sizes, (parts) => {
        const chunks = new LineChunks(pool);
        const lines = parts.map(([unit, count]) => unit.repeat(count));
        for (const line of lines) chunks.add(line);
        const expected = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        expect(Buffer.concat(chunks.parts()).equals(expected)).toBe(true);
        expect(chunks.bytes).toBe(expected.length);
        chunks.release();
        expect(chunks.bytes).toBe(0);
        expect(chunks.parts()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("CommitChain", () => {
  it("hashes what the format says, for any number of lines", () => {
    const chain = new CommitChain(NO_COMMIT);
    let prev = "0".repeat(64);
    for (const [index, count] of [0, 1, 3, 5000].entries()) {
      const hashes = Array.from({ length: count }, (_, n) => sha256(`${index} ${n}`));
      for (const hash of hashes) chain.cover(hash);
      expect(chain.rows).toBe(count);
      const made = chain.next();
      const expected = sha256(JSON.stringify([prev, index + 1, ...hashes]));
      expect(made).toEqual({ commit: index + 1, hash: expected });
      chain.continueFrom(made);
      expect(chain.rows).toBe(0);
      prev = expected;
    }
  });
});

describe("the names of a log's files", () => {
  it("are read back as they are written, and nothing else is", () => {
    expect([segmentName(7), indexName(123_456_789)]).toEqual([
      "segment-00000007.ndjson",
      "segment-123456789.index",
    ]);
    const names = [
      "segment-00000010.ndjson",
      "segment-00000009.ndjson",
      "segment-000000009.ndjson",
      "segment-00000000.ndjson",
      "segment-00000011.ndjson.bak",
      "segment-00000012.index",
      "segment-00000013.index.tmp",
    ];
    expect(segmentsIn(names)).toEqual([9, 10]);
    expect(indexesIn(names)).toEqual([12]);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
