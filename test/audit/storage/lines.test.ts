import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileLineBatches, fileLines } from "../../../src/audit/storage/file-lines.ts";
import { ChunkPool, LineChunks } from "../../../src/audit/storage/line-chunks.ts";
import { runs } from "../../support/runs.ts";
import { fileOf } from "./support/file-of.ts";

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
      { numRuns: runs(200) },
    );
  });

  it("begins at any line's first byte, and gives no more lines at a time than one read brings", async () => {
    const text = Array.from({ length: 5000 }, (_, n) => `${n} ${"x".repeat(n % 190)}`);
    const bytes = Buffer.from(text.map((each) => `${each}\n`).join(""));
    const file = await fileOf(bytes);
    for (const line of [0, 1, 2000, 4999]) {
      const from = Buffer.byteLength(text.slice(0, line).join("\n")) + Math.min(1, line);
      const found: string[] = [];
      let batches = 0;
      for await (const lines of fileLineBatches(file, from, bytes.length)) {
        expect(lines[0]?.number).toBe(found.length + 1);
        expect((lines.at(-1)?.end ?? 0) - (lines[0]?.start ?? 0)).toBeLessThanOrEqual(256 * 1024);
        found.push(...lines.map((each) => Buffer.from(each.bytes).toString()));
        batches += 1;
      }
      expect(found).toEqual(text.slice(line));
      expect(batches).toBe(Math.ceil((bytes.length - from) / (256 * 1024)));
    }
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
  it.each([
    ["and its chunks are used again", new ChunkPool()],
    ["each in a chunk of its own size", undefined],
  ])("holds any lines as UTF-8 with their newlines, %s", (_, pool) => {
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
      { numRuns: runs(60) },
    );
  });
});
