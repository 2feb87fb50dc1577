import type { Random } from "../../support/random.ts";

/** Makes something hostile of a valid line. What comes may be several lines, or none. */
export interface Mutation {
  readonly name: string;
  mutate(line: string, random: Random): Buffer;
}

/** What stands in the place of a value. */
const ODD_VALUES = [
  "null",
  "true",
  "[]",
  "{}",
  '""',
  "0",
  "-1",
  '"x"',
  '"\\u0000"',
  '["a"]',
  '{"type":"started"}',
  '"__proto__"',
  '"2026-13-45T99:99:99Z"',
  '"1969-12-31T23:59:59Z"',
];
const ODD_NUMBERS = [
  "1e999",
  "-1e999",
  "1e-999",
  "9007199254740993",
  `${"9".repeat(400)}`,
  `0.${"1".repeat(400)}`,
  "-0",
  "18446744073709551616",
  "1E+2",
  "-9223372036854775809",
  "00",
  "0x10",
  "NaN",
  "Infinity",
  "+1",
  ".5",
];
const ODD_TEXTS = [
  "\\ud800",
  "\\udfff\\ud800",
  "\\ud83d\\ude00",
  "\\u0000",
  "\\u202e",
  "\u{1f600}",
  "\ufeff",
  "\u2028",
  "\\ud800x",
];
const ODD_KEYS = ["__proto__", "constructor", "toString", "event", "type", "envelope", "timestamp"];
/** Just below, at and above what is a limit of depth. */
const DEPTHS = [10, 500, 990, 999, 1_000, 1_001, 5_000, 100_000];
/** Around the longest name that the services take. */
const LENGTHS = [4_000, 4_096, 4_097, 20_000, 300_000];

/** Every sort of mutation, in the order of the table. */
export const MUTATIONS: readonly Mutation[] = [
  { name: "bytes", mutate: bytes },
  { name: "structure", mutate: structure },
  { name: "types", mutate: (line, random) => inPlaceOfValue(line, random, random.of(ODD_VALUES)) },
  {
    name: "numbers",
    mutate: (line, random) => inPlaceOfValue(line, random, random.of(ODD_NUMBERS)),
  },
  { name: "nesting", mutate: nesting },
  { name: "keys", mutate: keys },
  { name: "surrogates", mutate: texts },
  { name: "long names", mutate: names },
];

function bytes(line: string, random: Random): Buffer {
  let left = Buffer.from(line);
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const at = random.below(left.length + 1);
    const [head, tail] = [left.subarray(0, at), left.subarray(at)];
    const some = () =>
      Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256)));
    const ways = [
      () => Buffer.concat([head, some(), tail]),
      () => Buffer.concat([head, tail.subarray(1 + random.below(8))]),
      () => Buffer.concat([head, some(), tail.subarray(1)]),
      () => head,
      () => Buffer.concat([head, Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]), tail]),
      () => Buffer.concat([head, Buffer.from(random.of(["\n", "\r", "\r\n", "\0"])), tail]),
      () => Buffer.concat([left, left]),
    ];
    left = random.of(ways)();
  }
  return left;
}

/** Takes, doubles or moves a piece of the text between two of JSON's own characters. */
function structure(line: string, random: Random): Buffer {
  const places = [...line.matchAll(/[{}[\],:"]/g)].map(({ index }) => index);
  const [a, b] = [random.of(places), random.of(places)].sort((x, y) => x - y);
  const [from = 0, to = 0] = [a, b];
  const piece = line.slice(from, to + 1);
  const ways = [
    line.slice(0, from) + line.slice(to + 1),
    line.slice(0, to + 1) + piece + line.slice(to + 1),
    `[${line}]`,
    `{"event":${line}}`,
    `${piece}${line}`,
    JSON.stringify(line),
    `${line},`,
    line.slice(0, to),
    `{${line}}`,
  ];
  return Buffer.from(random.of(ways));
}

/** Values of the line's text, as JSON writes them: after a colon. */
function inPlaceOfValue(line: string, random: Random, value: string): Buffer {
  const values = [...line.matchAll(/:("(?:[^"\\]|\\.)*"|-?[\d.eE+]+|true|false|null|\{\}|\[\])/g)];
  const { index, 1: old = "" } = random.of(values);
  return Buffer.from(`${line.slice(0, index + 1)}${value}${line.slice(index + 1 + old.length)}`);
}

function nesting(line: string, random: Random): Buffer {
  const depth = random.of(DEPTHS);
  const [open, close] = random.of([
    ["[", "]"],
    ['{"a":', "}"],
  ]);
  const inner = `${open?.repeat(depth)}1${close?.repeat(random.chance(0.9) ? depth : depth - 1)}`;
  return random.chance(0.5)
    ? inPlaceOfValue(line, random, inner)
    : Buffer.from(`{"extra":${inner},${line.slice(1)}`);
}

/** A key that stands there twice, or one that JavaScript knows of itself. */
function keys(line: string, random: Random): Buffer {
  const own = [...line.matchAll(/"(\w+)":/g)].map(([, key = ""]) => key);
  const key = random.chance(0.6) ? random.of(own) : random.of(ODD_KEYS);
  const more = `"${key}":${random.of(ODD_VALUES)}`;
  return Buffer.from(
    random.chance(0.5) ? `{${more},${line.slice(1)}` : `${line.slice(0, -1)},${more}}`,
  );
}

function texts(line: string, random: Random): Buffer {
  const odd = random.of(ODD_TEXTS);
  if (random.chance(0.5)) return inPlaceOfValue(line, random, `"${odd}"`);
  return Buffer.from(`{"${odd}":"${odd}",${line.slice(1)}`);
}

function names(line: string, random: Random): Buffer {
  const long = random.of(["x", "é", "\\u0001"]).repeat(random.of(LENGTHS));
  return random.chance(0.7)
    ? inPlaceOfValue(line, random, `"${long}"`)
    : Buffer.from(`{"${long}":1,${line.slice(1)}`);
}
