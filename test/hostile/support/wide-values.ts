import type { Random } from "../../support/random.ts";

/** A value that is wide, deep, binary or no JSON at all. */
export interface WideValue {
  readonly name: string;
  make(random: Random): unknown;
}

const MEGABYTE = 1024 * 1024;

function sparse(last: number): unknown[] {
  const list: unknown[] = [];
  list[last] = 1;
  return list;
}

function deep(levels: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

function shared(): unknown {
  let value: unknown = "x";
  for (let level = 0; level < 64; level += 1) value = { a: value, b: value };
  return value;
}

function cycle(): unknown {
  const value: Record<string, unknown> = { name: "cycle" };
  value.list = [value, { value }];
  return value;
}

class Growing {
  toJSON(): unknown {
    return { more: new Growing(), list: [new Growing(), new Growing()] };
  }
}

/** It is a number the first time and wide from then on. */
function changing(): unknown {
  let reads = 0;
  return {
    get field() {
      reads += 1;
      return reads === 1 ? 1 : Array(100_000).fill("wide");
    },
  };
}

function lying(): unknown {
  return new Proxy([], {
    get: (list, name) => (name === "length" ? 4_294_967_295 : Reflect.get(list, name)),
  });
}

export const WIDE_VALUES: readonly WideValue[] = [
  { name: "array with one entry at 20,261,128", make: () => sparse(20_261_128) },
  { name: "array of length 4,294,967,295", make: () => sparse(4_294_967_294) },
  { name: "sparse array below", make: () => ({ ids: [sparse(200_000_000)] }) },
  { name: "proxy that says it is long", make: lying },
  { name: "Uint8Array of 5 MB", make: () => new Uint8Array(5 * MEGABYTE) },
  { name: "Float64Array in an object", make: () => ({ embedding: new Float64Array(100_000) }) },
  { name: "BigInt64Array", make: () => [new BigInt64Array(50_000)] },
  { name: "ArrayBuffer", make: () => new ArrayBuffer(MEGABYTE) },
  { name: "SharedArrayBuffer", make: () => new SharedArrayBuffer(MEGABYTE) },
  { name: "Buffer", make: () => Buffer.alloc(MEGABYTE).subarray(5) },
  { name: "Buffer as its JSON", make: () => JSON.parse(JSON.stringify(Buffer.alloc(100_000))) },
  {
    name: "object of 100,000 names",
    make: () => Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n])),
  },
  { name: "list of 1,000,000", make: () => Array(1_000_000).fill(7) },
  { name: "list of 300,000 texts", make: () => Array(300_000).fill("wide") },
  { name: "text of 40 MB", make: () => "x".repeat(40 * MEGABYTE) },
  { name: "text of 40 MB in an object", make: () => ({ page: "é".repeat(20 * MEGABYTE) }) },
  { name: "lone surrogates", make: () => "\ud800".repeat(100_000) },
  { name: "nested 50,000 levels", make: () => deep(50_000) },
  { name: "shared part, 2^64 times", make: shared },
  { name: "cycle", make: cycle },
  { name: "toJSON that gives more and more", make: () => new Growing() },
  { name: "getter that changes", make: changing },
  { name: "Map of maps", make: () => new Map([["a", new Map([[{ k: 1 }, new Set([1n])]])]]) },
  {
    name: "Map of 300,000",
    make: () => new Map(Array.from({ length: 300_000 }, (_, n) => [n, n])),
  },
  { name: "Set of 300,000", make: () => new Set(Array.from({ length: 300_000 }, (_, n) => n)) },
  { name: "error", make: () => ({ error: new TypeError("secret-operator-text") }) },
  { name: "integer of 400,000 digits", make: () => 10n ** 400_000n },
  {
    name: "web objects",
    make: () => [new Response("x"), new Headers({ a: "b" }), new FormData(), new Blob(["x"])],
  },
  {
    name: "things without JSON",
    make: () => ({ a: Promise.resolve(), b: new WeakMap(), c: Symbol("s"), d: () => 1, e: /x/ }),
  },
  {
    name: "list of drawn values",
    make: (random) =>
      Array.from({ length: 20 }, () => random.of(WIDE_VALUES.slice(2, 8)).make(random)),
  },
];
