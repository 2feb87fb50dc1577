// node bench/values.mjs: the conversion of values to bounded JSON against JSON.stringify of what it keeps.
//
// Both take turns in one process; each figure is the median of its rounds. A small value is compared with
// JSON.stringify of the value itself. For large values the last column is the time for a value against
// that for a tenth of it: about 1, but for a wide object, whose names the engine lists.
import { register } from "node:module";

register("./path/strip-types.mjs", import.meta.url);
const { boundedJson } = await import("../src/events/door.ts");

const short = process.argv.includes("--short");
const ROUNDS = short ? 15 : 61;
const SPAN = { bytes: 4096, binary: "summary", errorText: true };

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function nanoseconds(call, times) {
  const from = process.hrtime.bigint();
  for (let n = 0; n < times; n += 1) call();
  return Number(process.hrtime.bigint() - from) / times;
}

/** Medians of calls that take turns. */
function turns(calls, times) {
  const found = calls.map(() => []);
  for (let round = -3; round < ROUNDS; round += 1) {
    for (const [at, call] of calls.entries()) {
      const each = nanoseconds(call, times);
      if (round >= 0) found[at].push(each);
    }
  }
  return found.map(median);
}

const object = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]));

function nested(levels) {
  let value = { end: true };
  for (let level = 0; level < levels; level += 1) value = { level, inner: value };
  return value;
}

const LARGE = {
  "Uint8Array, 5 MB": [5e5, 5e6].map((length) => ({ raw: new Uint8Array(length) })),
  "text, 5 MB": [5e5, 5e6].map((length) => ({ text: "x".repeat(length) })),
  "list of 1,000,000 numbers": [1e5, 1e6].map((length) => Array.from({ length }, (_, n) => n)),
  "list of 100,000 objects": [1e4, 1e5].map((length) =>
    Array.from({ length }, (_, id) => ({ id, name: "somebody", tags: ["a", "b"] })),
  ),
  "object of 100,000 keys": [object(1e4), object(1e5)],
  "object in an object, 100,000 levels": [nested(1e4), nested(1e5)],
  "sparse array": [1e8, 4e9].map((last) => Object.assign([], { [last]: 1 })),
};

/** The small value of a span or a row. */
const SMALL = { order: 17, city: "Bern", items: [{ sku: "a-1", count: 2 }], paid: true };

export function valueRows() {
  const rows = [];
  const [native, ours] = turns(
    [() => JSON.stringify(SMALL), () => boundedJson(SMALL, SPAN)],
    short ? 2_000 : 20_000,
  );
  rows.push({ value: "small", ratio: (ours / native).toFixed(2), µs: (ours / 1e3).toFixed(1) });
  for (const [name, [tenth, value]] of Object.entries(LARGE)) {
    const kept = JSON.parse(boundedJson(value, SPAN).text);
    const [stringify, less, ours] = turns(
      [() => JSON.stringify(kept), () => boundedJson(tenth, SPAN), () => boundedJson(value, SPAN)],
      short ? 3 : 20,
    );
    rows.push({
      value: name,
      ratio: (ours / stringify).toFixed(2),
      µs: (ours / 1e3).toFixed(1),
      "to a tenth": (ours / less).toFixed(2),
    });
  }
  return rows;
}

if (import.meta.filename === process.argv[1]) console.table(valueRows());
