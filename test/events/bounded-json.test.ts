import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundedJson } from "../../src/events/bounded-json.ts";
import { runs } from "../support/runs.ts";

const SPAN = { bytes: 4096, binary: "summary", errorText: true } as const;
const ROW = { bytes: 1 << 20, binary: "base64" } as const;
const LENGTH = 10_000;

const size = (text: string) => Buffer.byteLength(text);
const span = (value: unknown) => boundedJson(value, SPAN).text;
const row = (value: unknown) => boundedJson(value, ROW).text;

/** An object, or a list, of which each read of an entry is counted. */
function counting(count: number, entry: unknown, list: boolean) {
  const seen = { reads: 0 };
  const names = Array.from({ length: list ? 0 : count }, (_, n) => `k${n}`);
  const target = list ? [] : {};
  const value = new Proxy(target, {
    get: (_, name) => {
      if (name === "length") return count;
      if (typeof name === "symbol" || name === "toJSON") return undefined;
      seen.reads += 1;
      return entry;
    },
    has: (_, name) => list && name !== "toJSON",
    ownKeys: () => names,
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: entry }),
  });
  return { value, seen };
}

describe("JSON of a value that fits", () => {
  it("is what JSON.stringify writes, also where the value is read field by field", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 5 }),
      fc.anything({ withDate: true, withBoxedValues: true, withNullPrototype: true }),
    );
    fc.assert(
      fc.property(value, (given) => {
        const text: string | undefined = JSON.stringify(given);
        fc.pre(text !== undefined);
        expect(row(given)).toBe(text);
        expect(row([given, 1n])).toBe(`[${text},1]`);
        expect(boundedJson(given, { ...SPAN, bytes: Math.max(64, size(text)) })).toEqual({
          text,
          cut: false,
          cutBytes: 0,
        });
      }),
      { numRuns: runs(1_000) },
    );
  });

  it.each<[string, unknown, string]>([
    ["bigint", { id: 2n ** 60n, boxed: Object(7n) }, '{"id":1152921504606846976,"boxed":7}'],
    ["Map", new Map([["a", new Map([["b", 1]])]]), '{"a":{"b":1}}'],
    [
      "Map with other keys",
      new Map<unknown, unknown>([
        [1, "n"],
        ["1", "t"],
        [{ a: 1 }, 2],
        [Symbol("s"), 3],
        ["gone", undefined],
      ]),
      '{"1":"n","1#":"t","{\\"a\\":1}":2,"symbol":3,"gone":null}',
    ],
    ["Set", new Set([1, "b", undefined]), '[1,"b",null]'],
    ["Date", [new Date(0), new Date(Number.NaN)], '["1970-01-01T00:00:00.000Z",null]'],
    [
      "boxed values",
      [new String("s"), new Number(1), new Boolean(false), Object(Symbol("x"))],
      '["s",1,false,{}]',
    ],
    ["URL and RegExp", [new URL("http://h/p"), /x/], '["http://h/p",{}]'],
    ["no prototype", Object.assign(Object.create(null), { a: 1n }), '{"a":1}'],
    ["symbol keys", { [Symbol("s")]: 1, a: 2n }, '{"a":2}'],
    ["more than entries", Object.assign([1n], { extra: 1 }), "[1]"],
    [
      "things without fields",
      [Promise.resolve(), new WeakMap(), new Blob(["x"]), new Headers({ a: "b" }), new FormData()],
      "[{},{},{},{},{}]",
    ],
    ["a function", [() => 1, 1n], "[null,1]"],
    ["lone surrogates", ["\ud800", 1n], '["\\ud800",1]'],
  ])("has its documented form: %s", (_, value, expected) => {
    expect(row(value)).toBe(expected);
    expect(span(value)).toBe(expected);
  });

  const typed = [
    ["Int8Array", new Int8Array([1, 2])],
    ["Uint8Array", new Uint8Array([1, 2])],
    ["Uint8ClampedArray", new Uint8ClampedArray([1, 2])],
    ["Int16Array", new Int16Array([513])],
    ["Uint16Array", new Uint16Array([513])],
    ["Int32Array", new Int32Array([1])],
    ["Uint32Array", new Uint32Array([1])],
    ["Float32Array", new Float32Array([1.5])],
    ["Float64Array", new Float64Array([1.5])],
    ["BigInt64Array", new BigInt64Array([1n])],
    ["BigUint64Array", new BigUint64Array([1n])],
    ["DataView", new DataView(new ArrayBuffer(3), 1, 2)],
    ["ArrayBuffer", new Uint8Array([1, 2]).buffer],
    ["SharedArrayBuffer", new SharedArrayBuffer(2)],
    ["Buffer", Buffer.from("xabx").subarray(1, 3)],
    ["Uint8Array", new (class Mine extends Uint8Array {})([1, 2])],
  ] as const;
  it.each(typed)("has bytes as base64 in rows, by type and length on spans: %s", (type, value) => {
    const bytes =
      "buffer" in value
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
        : Buffer.from(value);
    const base64 = bytes.toString("base64");
    expect(row({ v: value })).toBe(`{"v":{"type":"${type}","base64":"${base64}"}}`);
    expect(span({ v: value })).toBe(`{"v":{"type":"${type}","bytes":${bytes.length}}}`);
    // What was recorded is shown as the value itself was, and is recorded the same once more.
    expect(span(JSON.parse(row({ v: value })))).toBe(span({ v: value }));
    expect(row(JSON.parse(row({ v: value })))).toBe(row({ v: value }));
  });

  it("knows a Buffer by what its toJSON gives, and nothing else by that", () => {
    const written = JSON.parse(JSON.stringify([Buffer.from("ab")]));
    expect(row(written)).toBe('[{"type":"Buffer","base64":"YWI="}]');
    expect(span(written)).toBe('[{"type":"Buffer","bytes":2}]');
    for (const other of [
      { type: "Buffer", data: [1, 256] },
      { type: "Buffer", data: [1], more: 1 },
      { type: "Buffer", data: "x" },
      { type: "Buffer" },
      { type: "image", base64: "AAAA" },
      { base64: "AAAA" },
    ]) {
      expect(row(other)).toBe(JSON.stringify(other));
      expect(span(other)).toBe(JSON.stringify(other));
    }
  });

  it("has an error's name alone, and message and fields only where operator text may be", () => {
    class Refused extends Error {
      override readonly name = "Refused";
      readonly status = 401;
      toJSON() {
        return { secret: this.message };
      }
    }
    const error = new Refused("token abc");
    expect(row({ error })).toBe('{"error":{"name":"Refused"}}');
    expect(span({ error })).toBe('{"error":{"name":"Refused","message":"token abc","status":401}}');
    expect(row(Object.assign(new Error("m"), { name: "token abc" }))).toBe('{"name":"Error"}');
    expect(row(new DOMException("m", "AbortError"))).toBe('{"name":"AbortError"}');
  });
});

describe("a part that can't be read", () => {
  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic.self = cyclic;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const thrower = () => {
    throw new Error("secret");
  };
  const throwing = new Proxy({}, { ownKeys: thrower });
  const threw = '"[unserializable: a getter or toJSON threw]"';
  it.each<[string, unknown, string]>([
    ["a cycle", cyclic, '{"a":1,"self":"[unserializable: it contains itself]"}'],
    [
      "a getter",
      Object.defineProperty({ a: 1 }, "b", { get: thrower, enumerable: true }),
      `{"a":1,"b":${threw}}`,
    ],
    ["toJSON", { a: 1, b: { toJSON: thrower } }, `{"a":1,"b":${threw}}`],
    ["a revoked proxy", { a: 1, b: revoked.proxy }, `{"a":1,"b":${threw}}`],
    ["a proxy that throws", [1, throwing], `[1,${threw}]`],
    ["an entry", Object.defineProperty([1, 2], 1, { get: thrower }), `[1,${threw}]`],
    [
      "a tag",
      {
        a: 1,
        b: {
          get [Symbol.toStringTag]() {
            return thrower();
          },
        },
      },
      '{"a":1,"b":{}}',
    ],
    [
      "a long integer",
      [10n ** 10_000n],
      '["[unserializable: an integer of more than 10000 digits]"]',
    ],
  ])("costs itself alone: %s", (_, value, expected) => {
    expect(row(value)).toBe(expected);
  });

  it("is cut off below 960 levels, and the rest stays", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 50_000; level += 1) deep = { deep, level };
    const text = boundedJson({ before: 1, deep, after: 2 }, ROW).text;
    expect(text).toContain('"deep":"[unserializable: nested too deeply]"');
    expect(JSON.parse(text)).toMatchObject({ before: 1, after: 2 });
  });

  it("is told of where there is nothing else", () => {
    expect(span(undefined)).toBe('"[unserializable: undefined]"');
    expect(span({ toJSON: () => undefined })).toBe('"[unserializable: toJSON gave nothing]"');
  });
});

describe("a value that does not fit", () => {
  const nested = fc.anything({
    maxDepth: 4,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  const large = fc.oneof(
    fc.array(nested, { minLength: 20, maxLength: 60 }),
    fc.dictionary(fc.string({ unit: "binary", maxLength: 80 }), nested, {
      minKeys: 10,
      maxKeys: 40,
    }),
    fc.string({ unit: "binary", minLength: 100, maxLength: 600 }),
  );

  it("is valid JSON within any limit from 64 bytes, marked, and the same each time", () => {
    fc.assert(
      fc.property(large, fc.integer({ min: 64, max: 2_000 }), (value, bytes) => {
        for (const binary of ["base64", "summary"] as const) {
          const { cut, cutBytes, text } = boundedJson(value, { bytes, binary });
          expect(() => JSON.parse(text)).not.toThrow();
          expect(size(text)).toBeLessThanOrEqual(bytes);
          expect(text.includes("…") || !cut || binary === "base64").toBe(true);
          expect(cutBytes > 0).toBe(cut);
          expect(boundedJson(value, { bytes, binary })).toEqual({ cut, cutBytes, text });
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("has bytes by type and length where their base64 does not fit", () => {
    expect(boundedJson({ id: 1, raw: new Uint8Array(5_000_000) }, { ...ROW, bytes: 4096 })).toEqual(
      {
        text: '{"id":1,"raw":{"type":"Uint8Array","bytes":5000000}}',
        cut: true,
        cutBytes: 6_666_664,
      },
    );
  });

  it("says how much of a text is missing, at least", () => {
    const [, kept, cut] =
      /^\{"t":"(x+)… \[more than (\d+) bytes cut\]"\}$/.exec(span({ t: "x".repeat(40_000_000) })) ??
      [];
    expect(Number(cut)).toBe(40_000_000 - (kept?.length ?? 0) - 1);
  });

  it.each([
    ["a list", true, 1],
    ["a list of texts", true, "x".repeat(5_000)],
    ["an object", false, 1],
    ["an object of lists", false, [1, [2, 3]]],
    ["an object of what has no JSON", false, undefined],
  ])("is read no further than it is written: %s", (_, list, entry) => {
    const small = counting(LENGTH, entry, list);
    const long = counting(10 * LENGTH, entry, list);
    const text = span(small.value);
    expect(size(text)).toBeLessThanOrEqual(4096);
    expect(text).toContain("left out");
    expect(small.seen.reads).toBeGreaterThan(100);
    expect(small.seen.reads).toBeLessThan(4_096);
    span(long.value);
    // Its marks have a digit more.
    expect(long.seen.reads).toBeLessThanOrEqual(small.seen.reads);
  });

  it("has no hole of a sparse array visited one by one", () => {
    const sparse: unknown[] = [];
    sparse[20_261_128] = { id: 7 };
    sparse[5] = "five";
    expect(row({ sparse })).toBe('{"sparse":{"5":"five","20261128":{"id":7}}}');
    sparse[4_294_967_294] = "last";
    expect(span(sparse)).toBe('{"5":"five","20261128":{"id":7},"4294967294":"last"}');
    // A short one stays a list.
    const short = Array(1_000);
    short[999] = 1;
    expect(row(short)).toBe(JSON.stringify(short));
    let read = 0;
    const holes = new Proxy([], {
      get: (target, name) => (name === "length" ? 4_294_967_295 : Reflect.get(target, name)),
      has: () => {
        read += 1;
        return false;
      },
    });
    span(holes);
    expect(read).toBeLessThan(200);
  });

  it("calls a toJSON that gives more and more only as long as there is room", () => {
    let calls = 0;
    class More {
      toJSON() {
        calls += 1;
        return { more: new More(), list: Array.from({ length: 100 }, () => new More()) };
      }
    }
    const text = span(new More());
    expect(() => JSON.parse(text)).not.toThrow();
    expect(calls).toBeLessThan(4_096);
  });

  it("is not longer because the same part is in it many times", () => {
    let value: unknown = "x";
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(size(span(value))).toBeLessThanOrEqual(4096);
  });
});

it("of a large value that is not plain is complete up to the limit, else at most 1 MiB", () => {
  const value = { id: 1n, list: Array.from({ length: 200_000 }, (_, n) => [n, "é"]) };
  const text = `{"id":1,"list":${JSON.stringify(value.list)}}`;
  expect(boundedJson(value, { ...ROW, bytes: size(text) })).toEqual({
    text,
    cut: false,
    cutBytes: 0,
  });
  const short = boundedJson(value, { ...ROW, bytes: size(text) - 1 });
  expect(short.cut).toBe(true);
  expect(size(short.text)).toBeLessThanOrEqual(1 << 20);
  expect(JSON.parse(short.text)).toMatchObject({ id: 1 });
});

describe("keys of a Map of other types than text", () => {
  const json = (value: unknown) => JSON.parse(boundedJson(value, ROW).text);

  it("have their JSON as names if it is short, and of no form of its own", () => {
    const keys = [1, 7n, true, null, { id: 1 }, [1, "a"], new Date(0)];
    const named = json(new Map<unknown, number>(keys.map((key, at) => [key, at])));
    expect(Object.keys(named)).toEqual([
      "1",
      "7",
      "true",
      "null",
      '{"id":1}',
      '[1,"a"]',
      '"1970-01-01T00:00:00.000Z"',
    ]);
    const others = [undefined, Symbol("secret"), new Map(), [new Set()], "x".repeat(3)];
    const unnamed = json(new Map<unknown, number>(others.map((key, at) => [key, at])));
    expect(Object.keys(unnamed)).toEqual(["undefined", "symbol", "object", "list", "xxx"]);
  });

  it("may be the Map itself, and Maps in Maps", () => {
    const own = new Map<unknown, unknown>();
    own.set(own, 1);
    expect(json({ before: 1, own, after: 2 })).toEqual({ before: 1, own: { object: 1 }, after: 2 });
    let nested: Map<unknown, unknown> = new Map([[1, 1]]);
    for (let level = 0; level < 5_000; level += 1) nested = new Map([[nested, nested]]);
    expect(boundedJson(nested, ROW).text).toContain("nested too deeply");
  });

  it("have names of their own, however many have equal texts", () => {
    const many = new Map<unknown, number>();
    for (let n = 0; n < 30_000; n += 1) many.set(Symbol(), n);
    many.set("symbol#2", -1);
    expect(Object.values(json(many))).toEqual([...many.values()]);
  });
});

it("reads a bounded number of lists and objects of a value without an end", () => {
  const endless = (): unknown => ({
    get left() {
      return endless();
    },
    get right() {
      return endless();
    },
  });
  for (const bytes of [4_096, 12 << 20]) {
    const { text } = boundedJson(endless(), { ...ROW, bytes });
    expect(size(text)).toBeLessThanOrEqual(bytes);
    expect(text.includes("too many lists and objects")).toBe(bytes > 4_096);
  }
});
