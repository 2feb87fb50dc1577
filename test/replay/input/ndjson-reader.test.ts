import { Readable } from "node:stream";
import { constants, crc32, gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ByteSource } from "../../../src/replay/input/byte-source.ts";
import { readNdjson } from "../../../src/replay/input/ndjson-reader.ts";

/** The bytes in pieces of the given sizes, over and over. */
async function* pieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function linesOf(source: ByteSource, maxLineBytes?: number) {
  const lines: { line: number; text: string | undefined; bytes: string }[] = [];
  const oversized: { line: number; bytes: string; parts: number }[] = [];
  let open: { line: number; bytes: Buffer; parts: number } | undefined;
  for await (const batch of readNdjson(source, { maxLineBytes })) {
    for (const part of batch) {
      if (!part.oversized) {
        expect(open).toBeUndefined();
        lines.push({ line: part.line, text: part.text, bytes: part.bytes.toString("latin1") });
        continue;
      }
      open ??= { line: part.line, bytes: Buffer.alloc(0), parts: 0 };
      expect(part.line).toBe(open.line);
      open = { ...open, bytes: Buffer.concat([open.bytes, part.bytes]), parts: open.parts + 1 };
      if (!part.last) continue;
      oversized.push({ ...open, bytes: open.bytes.toString("latin1") });
      open = undefined;
    }
  }
  expect(open).toBeUndefined();
  return { lines, oversized };
}

/** The text of gzip data that is cut, as far as it goes. */
function inflateAll(bytes: Buffer): string {
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
}

const one = async (text: string | Buffer) => (await linesOf(pieces(Buffer.from(text), []))).lines;

describe("readNdjson", () => {
  it("numbers lines from 1, skips blank ones, takes LF, CRLF and a last line without end", async () => {
    expect(await one('{"a":1}\n\n \t\r\n{"b":2}\r\n{"c":"é"}')).toEqual([
      { line: 1, text: '{"a":1}', bytes: '{"a":1}\n' },
      { line: 4, text: '{"b":2}', bytes: '{"b":2}\r\n' },
      { line: 5, text: '{"c":"é"}', bytes: Buffer.from('{"c":"é"}').toString("latin1") },
    ]);
    expect(await one("")).toEqual([]);
    expect(await one("\n\n")).toEqual([]);
    expect(await one("a\rb\n")).toEqual([{ line: 1, text: "a\rb", bytes: "a\rb\n" }]);
  });

  it("gives the same lines however the bytes are cut, and every byte of them", async () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\r\n]/g, "")),
      fc.constantFrom("", "  ", "검색", "x".repeat(50)),
    );
    const source = fc.record({
      lines: fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 12 }),
      sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      lastEnd: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(source, async ({ lines, sizes, lastEnd }) => {
        const ends = lines.map(([, end], index) =>
          index === lines.length - 1 && !lastEnd ? "" : end,
        );
        const bytes = Buffer.from(lines.map(([text], index) => text + ends[index]).join(""));
        fc.pre(bytes[0] !== 0x1f && bytes[0] !== 0xef);
        const expected = lines.flatMap(([text], index) =>
          /^[ \t]*$/.test(text)
            ? []
            : [
                {
                  line: index + 1,
                  text: Buffer.from(text).toString(),
                  bytes: Buffer.from(text + ends[index]).toString("latin1"),
                },
              ],
        );
        const read = await linesOf(pieces(bytes, sizes));
        expect(read).toEqual({ lines: expected, oversized: [] });
      }),
    );
  });

  it("tells lines that are no UTF-8, and reads their neighbours", async () => {
    const bytes = Buffer.concat([
      Buffer.from("é\n"),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from("ü\n"),
    ]);
    expect((await one(bytes)).map((line) => line.text)).toEqual(["é", undefined, "ü"]);
    const lone = Buffer.from([0xc3]);
    expect(await one(lone)).toEqual([{ line: 1, text: undefined, bytes: "Ã" }]);
  });

  it("leaves out a byte order mark before a line, as in files put together, also byte by byte", async () => {
    const bytes = Buffer.from("\uFEFFa\n\uFEFFb\r\n\uFEFF\nc\uFEFF\n\uFEFFd");
    for (const sizes of [[1], [2], [100]]) {
      const { lines } = await linesOf(pieces(bytes, sizes));
      expect(lines.map(({ line, text }) => [line, text])).toEqual([
        [1, "a"],
        [2, "b"],
        [4, "c\uFEFF"],
        [5, "d"],
      ]);
    }
    expect(await one("\uFEFF")).toEqual([]);
  });

  it("decompresses gzip, of several members too, however it is cut", async () => {
    const bytes = Buffer.concat([gzipSync("\uFEFFa\nb"), gzipSync("c\n")]);
    for (const sizes of [[1], [7], [10_000]]) {
      const { lines } = await linesOf(pieces(bytes, sizes));
      expect(lines.map((line) => line.text)).toEqual(["a", "bc"]);
    }
  });

  it("gives what it could read of cut gzip data, then the error", async () => {
    const text = Array.from({ length: 40_000 }, (_, n) => `{"n":${n}}`).join("\n");
    const whole = gzipSync(text);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const batch of readNdjson(pieces(whole.subarray(0, -2000), [5000]))) {
        for (const part of batch) if (!part.oversized) seen.push(part.text ?? "");
      }
    })();
    await expect(reading).rejects.toThrow("unexpected end of file");
    expect(seen.length).toBeGreaterThan(1000);
    expect(seen.slice(0, 2)).toEqual(['{"n":0}', '{"n":1}']);
  });

  it.each([1, 1000, 65_536, 10_000_000])(
    "gives every line that was whole before the gzip data goes wrong, in pieces of %i",
    async (size) => {
      const count = size === 1 ? 200 : 20_000;
      const all = Array.from(
        { length: count },
        (_, n) => `{"n":${n},"x":"${(n * 7919) % 10_007}"}`,
      );
      const whole = gzipSync(`${all.join("\n")}\n`);
      const wrongSum = Buffer.from(whole);
      wrongSum.writeUInt32LE(7, whole.length - 8);
      const read = async (bytes: Buffer) => {
        const seen: (string | undefined)[] = [];
        const reading = (async () => {
          for await (const batch of readNdjson(pieces(bytes, [size]))) {
            // Whoever reads takes his time: nothing may be dropped meanwhile.
            await new Promise((resolve) => setImmediate(resolve));
            for (const part of batch) if (!part.oversized) seen.push(part.text);
          }
        })();
        const error = await reading.then(() => "none", String);
        return { seen, error };
      };
      const junk = await read(Buffer.concat([whole, Buffer.from("junk")]));
      expect(junk.error).toContain("other bytes stand behind its end");
      expect(junk.seen).toEqual(all);
      const second = await read(Buffer.concat([gzipSync("first\n"), whole, Buffer.from([1, 2])]));
      expect(second.error).toContain("other bytes stand behind its end");
      expect(second.seen).toEqual(["first", ...all]);
      const long = await read(Buffer.concat([whole, Buffer.alloc(1000, "junk")]));
      expect(long.error).toContain("other bytes stand behind its end");
      expect(long.seen).toEqual(all.slice(0, long.seen.length));
      expect(all.slice(long.seen.length).join("\n").length).toBeLessThan(300_000);
      const sum = await read(wrongSum);
      expect(sum.error).toContain("incorrect data check");
      expect(sum.seen).toEqual(all);
      const noTrailer = await read(whole.subarray(0, -8));
      expect(noTrailer.error).toContain("unexpected end of file");
      expect(noTrailer.seen).toEqual(all);
      const half = whole.subarray(0, whole.length >> 1);
      const lines = inflateAll(half).split("\n").slice(0, -1);
      expect(lines.length).toBeGreaterThan(50);
      expect((await read(half)).seen).toEqual(lines);
      expect((await read(Buffer.concat([whole, Buffer.alloc(600)]))).error).toBe("none");
      const hidden = await read(Buffer.concat([whole, Buffer.alloc(600), gzipSync("late\n")]));
      expect(hidden.error).toContain("other bytes stand behind its end");
      expect(hidden.seen).toEqual(all);
    },
  );

  it("passes what a gzip header may have, and takes any number of members", async () => {
    const plain = gzipSync("a\n");
    const header = Buffer.from(plain.subarray(0, 10));
    header[3] = 0x1e;
    const parts = [header, Buffer.from([3, 0, 9, 0, 9]), Buffer.from("name\0comment\0")];
    const sum = Buffer.alloc(2);
    sum.writeUInt16LE(crc32(Buffer.concat(parts)) & 0xffff);
    const full = Buffer.concat([...parts, sum, plain.subarray(10)]);
    const small = await linesOf(pieces(full, [1]));
    expect(small.lines.map((line) => line.text)).toEqual(["a"]);
    const many = Array.from({ length: 1100 }, (_, n) => gzipSync(`${n}\n`));
    const { lines } = await linesOf(pieces(Buffer.concat([full, ...many]), [10_000]));
    expect(lines.map((line) => line.text)).toEqual(["a", ...many.map((_, n) => String(n))]);
    await expect(linesOf(pieces(full.subarray(0, 20), [3]))).rejects.toThrow("unexpected end");
    const other = Buffer.from(plain);
    other[2] = 9;
    await expect(linesOf(pieces(other, []))).rejects.toThrow("unknown compression method");
  });

  it("does not hold lines over the limit: their bytes come in parts, all of them", async () => {
    const long = "y".repeat(40);
    const text = `ok1\n${long}\r\nok2\n${"z".repeat(11)}\n${"x".repeat(10)}\r\n${long}`;
    for (const sizes of [[1], [3], [8], [45], [1000]]) {
      const { lines, oversized } = await linesOf(pieces(Buffer.from(text), sizes), 10);
      expect(lines.map(({ line, text }) => [line, text])).toEqual([
        [1, "ok1"],
        [3, "ok2"],
        [5, "x".repeat(10)],
      ]);
      expect(oversized.map(({ line, bytes }) => [line, bytes])).toEqual([
        [2, `${long}\r\n`],
        [4, `${"z".repeat(11)}\n`],
        [6, long],
      ]);
    }
    const parts = await linesOf(pieces(Buffer.from("y".repeat(100)), [10]), 10);
    expect(parts.oversized[0]?.parts).toBeGreaterThan(5);
  });

  it("reads Readables of bytes and of text, and plain Uint8Arrays", async () => {
    const text = "é1\né2\n";
    const expected = ["é1", "é2"];
    const bytes = Readable.from([Buffer.from(text)], { objectMode: false });
    const decoded = Readable.from([Buffer.from(text)], { objectMode: false }).setEncoding("utf8");
    async function* arrays() {
      yield new Uint8Array(Buffer.from(text));
    }
    for (const source of [bytes, decoded, arrays()]) {
      expect((await linesOf(source)).lines.map((line) => line.text)).toEqual(expected);
    }
  });

  it("stops its source when the reader stops", async () => {
    const source = Readable.from([Buffer.from("a\n"), Buffer.from("b\n")]);
    for await (const _ of readNdjson(source)) break;
    expect(source.destroyed).toBe(true);
    const zipped = Readable.from([gzipSync("a\n")], { objectMode: false });
    for await (const _ of readNdjson(zipped)) break;
    expect(zipped.destroyed).toBe(true);
  });

  it("refuses a limit that is none, at once", () => {
    expect(() => readNdjson(Readable.from([]), { maxLineBytes: 0 })).toThrow(
      "maxLineBytes: expected a whole number from 1, got 0",
    );
  });
});
