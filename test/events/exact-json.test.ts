import { deepStrictEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExact, stringifyExact } from "../../src/events/exact-json.ts";
import { JsonSyntaxError } from "../../src/events/json-text-parser.ts";
import { runs } from "../support/runs.ts";

const bigInteger = fc.oneof(
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }),
  fc.bigInt({ min: -(2n ** 80n), max: -(2n ** 53n) }),
);

/** JSON values with big integers among them, hostile keys and strings of digits included. */
const { tree: exactValue } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("array"), tie("object")),
  leaf: fc.oneof(
    fc.constantFrom(null, true, false, -0),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => Math.abs(n) < 2 ** 53),
    fc.maxSafeInteger(),
    bigInteger,
    fc.string({ unit: "binary" }),
    bigInteger.map((n) => `at ,${n} and [${n}`),
  ),
  array: fc.array(tie("tree"), { maxLength: 4 }),
  object: fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "7", "constructor")),
    tie("tree"),
    { maxKeys: 4 },
  ),
}));

function holdsBigInteger(text: string): boolean {
  let found = false;
  try {
    JSON.parse(text, (_key, value: unknown) => {
      found ||= Number.isInteger(value) && !Number.isSafeInteger(value);
    });
  } catch {
    return false;
  }
  return found;
}

function problemOf(text: string): JsonSyntaxError {
  try {
    parseExact(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe("parseExact", () => {
  it("keeps every digit of integers from 2^53 on, and only of those", () => {
    expect(parseExact('{"a":9007199254740993,"b":-9223372036854775808}')).toEqual({
      a: 9007199254740993n,
      b: -9223372036854775808n,
    });
    expect(parseExact("[9007199254740991,9007199254740992,-9007199254740992]")).toEqual([
      9007199254740991,
      9007199254740992n,
      -9007199254740992n,
    ]);
    expect(parseExact("1777464000123456")).toBe(1777464000123456);
    expect(parseExact(" 18446744073709551615 ")).toBe(18446744073709551615n);
  });

  it("leaves floats, exponents, minus zero and digits in strings alone", () => {
    const text =
      '[1.00000000000000000001,12345678901234567890.5,12345678901234567890e2,1e-00000000000000000002,-0,"x:12345678901234567890","a,9999999999999999999",{"9999999999999999999":1}]';
    expect(parseExact(text)).toEqual(JSON.parse(text));
    expect(parseExact("[-0,9007199254740993]")).toEqual([-0, 9007199254740993n]);
    expect(parseExact("[1e400,9007199254740993]")).toEqual([
      Number.POSITIVE_INFINITY,
      9007199254740993n,
    ]);
  });

  it("agrees with JSON.parse on every text without big integers", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 1, 2), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent);
        fc.pre(!holdsBigInteger(written));
        deepStrictEqual(parseExact(written), JSON.parse(written));
        // A big integer beside it sends the same text through the slow reader.
        deepStrictEqual(parseExact(`[9007199254740993,${written}]`), [
          9007199254740993n,
          JSON.parse(written),
        ]);
      }),
    );
  });

  it("accepts and refuses what JSON.parse does, in damaged texts too", () => {
    const damage = fc.record({
      text: fc.json({ maxDepth: 3 }),
      at: fc.nat(),
      cut: fc.nat({ max: 3 }),
      insert: fc.constantFrom(
        "",
        '"',
        "\\",
        "\\u12",
        ",",
        "}",
        "[",
        "-",
        "01",
        "\u0001",
        "nul",
        " ",
      ),
    });
    fc.assert(
      fc.property(damage, ({ text, at, cut, insert }) => {
        const start = at % (text.length + 1);
        const damaged = text.slice(0, start) + insert + text.slice(start + cut);
        fc.pre(!holdsBigInteger(damaged));
        let expected: unknown;
        try {
          expected = { value: JSON.parse(damaged) };
        } catch {
          expected = "refused";
        }
        let got: unknown;
        try {
          got = { value: parseExact(damaged) };
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
          got = "refused";
        }
        deepStrictEqual(got, expected);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("takes __proto__ as an ordinary key and the last of two equal keys", () => {
    const value = parseExact('{"__proto__":{"x":9007199254740993},"a":1,"a":2}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value ?? {})).toEqual([
      ["__proto__", { x: 9007199254740993n }],
      ["a", 2],
    ]);
  });

  it.each([
    ['{"a":}', 5, "a value"],
    ['{"a" 1}', 5, "':'"],
    ["[1,", 3, "a value"],
    ["[1,]", 3, "a value"],
    ["[", 1, "a value or ']'"],
    ["{,}", 1, "a property name or '}'"],
    ['{"a":1,}', 7, "a property name"],
    ['{"a":1 "b":2}', 7, "',' or '}'"],
    ['"abc', 4, "'\"'"],
    ['"a\\x"', 2, "a valid escape sequence"],
    ['"a\u0001"', 2, "no control character in a string"],
    ["nul", 0, "'null'"],
    ["-", 1, "a digit"],
    ["", 0, "a value"],
    ['{"a":1}x', 7, "the end of the text"],
  ])("says where %s is wrong and what was expected", (text, position, expected) => {
    const problem = problemOf(text);
    expect({ position: problem.position, expected: problem.expected }).toEqual({
      position,
      expected,
    });
    expect(problem.message).toBe(`expected ${expected} at position ${position}`);
    expect(problem).toBeInstanceOf(SyntaxError);
  });

  it("refuses nesting beyond 1,000 levels, with and without big integers, without a crash", () => {
    const nested = (levels: number, core: string) => "[".repeat(levels) + core + "]".repeat(levels);
    expect(() => parseExact(nested(1000, "1"))).not.toThrow();
    expect(() => parseExact(nested(1000, "9007199254740993"))).not.toThrow();
    for (const levels of [1001, 2_000_000]) {
      for (const core of ["1", "9007199254740993"]) {
        expect(problemOf(nested(levels, core)).position).toBe(1000);
      }
    }
    expect(problemOf('{"a":'.repeat(5000)).expected).toBe("at most 1000 levels of nesting");
  });

  it("does not take brackets in strings, or siblings, for nesting", () => {
    const texts = [
      `"${"[".repeat(5000)}"`,
      `["\\"${"{".repeat(3000)}\\\\",${"[1],".repeat(2000)}2]`,
    ];
    for (const text of texts) expect(parseExact(text)).toEqual(JSON.parse(text));
  });

  it("refuses integers too long to convert in good time", () => {
    expect(parseExact("9".repeat(10_000))).toBe(BigInt("9".repeat(10_000)));
    expect(problemOf("9".repeat(3_000_000)).expected).toBe("an integer of at most 10000 digits");
  });
});

describe("stringifyExact", () => {
  it("round-trips every value with big integers", () => {
    fc.assert(
      fc.property(exactValue, (value) => {
        deepStrictEqual(parseExact(stringifyExact(value)), normal(value));
      }),
    );
  });

  it("writes what JSON.stringify writes", () => {
    const anything = fc.anything({
      withDate: true,
      withBoxedValues: true,
      withSparseArray: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const text: string | undefined = JSON.stringify(value);
        fc.pre(text !== undefined);
        expect(stringifyExact(value)).toBe(text);
        // With a bigint beside it the slow writer writes the same.
        expect(stringifyExact([value, 1n])).toBe(`[${text},1]`);
      }),
    );
  });

  it("honours toJSON with its key, and leaves out what has no JSON", () => {
    const keyed = { toJSON: (key: string) => `<${key}>` };
    const value = {
      n: 1n,
      a: keyed,
      list: [keyed, undefined, () => 1, Symbol("s")],
      u: undefined,
      f: () => 1,
      d: new Date(0),
    };
    expect(stringifyExact(value)).toBe(
      '{"n":1,"a":"<a>","list":["<0>",null,null,null],"d":"1970-01-01T00:00:00.000Z"}',
    );
    expect(stringifyExact(Object(7n))).toBe("7");
    expect(stringifyExact([Number.NaN, Number.POSITIVE_INFINITY, 1n])).toBe("[null,null,1]");
  });

  it("writes digits although a program gave BigInt a toJSON", () => {
    Object.defineProperty(BigInt.prototype, "toJSON", { value: () => "text", configurable: true });
    try {
      expect(stringifyExact({ a: 1n, b: [2] })).toBe('{"a":1,"b":[2]}');
    } finally {
      Reflect.deleteProperty(BigInt.prototype, "toJSON");
    }
  });

  it("never throws: what cannot be written becomes a reason", () => {
    const cyclic: Record<string, unknown> = { big: 1n };
    cyclic.self = cyclic;
    let deep: unknown = 1n;
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    const throwing = {
      get a() {
        throw new Error("secret");
      },
      b: 1,
    };
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("secret");
        },
      },
    );
    const revoked = Proxy.revocable([], {});
    revoked.revoke();
    const reasons: [unknown, string][] = [
      [undefined, "undefined"],
      [() => 1, "function"],
      [Symbol("secret"), "symbol"],
      [{ toJSON: () => undefined }, "toJSON gave nothing"],
      [
        {
          toJSON() {
            throw new Error("secret");
          },
        },
        "a getter or toJSON threw",
      ],
      [hostile, "a getter or toJSON threw"],
      [revoked.proxy, "a getter or toJSON threw"],
    ];
    for (const [value, reason] of reasons) {
      expect(stringifyExact(value)).toBe(`"[unserializable: ${reason}]"`);
    }
    expect(stringifyExact(cyclic)).toBe('{"big":1,"self":"[unserializable: it contains itself]"}');
    expect(stringifyExact(deep)).toContain('["[unserializable: nested too deeply]"]');
    expect(stringifyExact(throwing)).toBe(
      '{"a":"[unserializable: a getter or toJSON threw]","b":1}',
    );
  });

  it("does not take a value that is used twice for a cycle", () => {
    const shared = { n: 1n };
    expect(stringifyExact([shared, shared])).toBe('[{"n":1},{"n":1}]');
  });
});

it("reads every golden line back to the same text by value", () => {
  const lines = readFileSync(new URL("../golden/entelix_events.jsonl", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  expect(lines.length).toBe(89);
  for (const line of lines) expect(stringifyExact(parseExact(line))).toBe(line);
});

/** What a value is after a trip through JSON: no prototypes, no minus zero. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value === "object" && value !== null) {
    const copy = {};
    for (const [key, item] of Object.entries(value)) {
      Object.defineProperty(copy, key, {
        value: normal(item),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  }
  return Object.is(value, -0) ? 0 : value;
}
