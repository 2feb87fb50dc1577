// node bench/values.mjs [--short] [--write]: the conversion of values to bounded JSON against JSON.stringify of what it keeps.
//
// Both take turns in one process; each figure is the median of its rounds. A small value is compared with
// JSON.stringify of the value itself. For large values the last column is the time for a value against
// that for a tenth of it: about 1, but for a wide object, whose names the engine lists. The second table has
// values that a row of the audit log keeps: the time grows with them, and the ratio to JSON.stringify does not. The
// third table has the complete way of 5 MB through a bridge.
import { register } from "node:module";
import { setImmediate } from "node:timers/promises";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { show } from "./page.mjs";
import { median, short } from "./processes.mjs";

register("./path/strip-types.mjs", import.meta.url);
const { boundedJson } = await import("../src/events/door.ts");
const { Bridge, createIdGenerator } = await import("../src/index.ts");
const { AuditSink, MemorySessionLog } = await import("../src/entries/audit.ts");

const tracerProvider = new BasicTracerProvider({ idGenerator: createIdGenerator() });

const ROUNDS = short ? 15 : 61;
/** Rounds of values of 5 MB. */
const APART = short ? 3 : 9;
const SPAN = { bytes: 4096, binary: "summary", errorText: true };

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

function valueRows() {
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

/** Values of this many MB as a row has them, complete. Bytes are compared with their base64 text. */
const GROWTH = [0.5, 1, 5];
const TEXT = "some text of a tool ";

class Wide {
  constructor(fields) {
    for (let n = 0; n < fields; n += 1) this[`key${n}`] = TEXT.repeat(2);
  }
}

function tree(levels, width) {
  if (levels === 0) return TEXT.repeat(2);
  return Object.fromEntries(
    Array.from({ length: width }, (_, n) => [`key${n}`, tree(levels - 1, width)]),
  );
}

const FORMS = {
  Uint8Array: (mb) => new Uint8Array(mb * 1e6),
  Buffer: (mb) => Buffer.alloc(mb * 1e6),
  "text of base64": (mb) => "A".repeat(mb * 1e6),
  "text with escapes": (mb) => '\n"'.repeat(mb * 5e5),
  Float64Array: (mb) => new Float64Array(mb * 125e3).fill(1.5),
  "object of wide keys": (mb) =>
    Object.fromEntries(Array.from({ length: mb * 2e4 }, (_, n) => [`key${n}`, TEXT.repeat(2)])),
  Map: (mb) => new Map(Array.from({ length: mb * 2e4 }, (_, n) => [`key${n}`, TEXT.repeat(2)])),
  Set: (mb) => new Set(Array.from({ length: mb * 2e4 }, (_, n) => `${n}${TEXT.repeat(2)}`)),
  "instance of a class": (mb) => new Wide(mb * 2e4),
  getters: (mb) => {
    const get = () => TEXT.repeat(2);
    const fields = Array.from({ length: mb * 2e4 }, (_, n) => [
      `key${n}`,
      { get, enumerable: true },
    ]);
    return Object.defineProperties({}, Object.fromEntries(fields));
  },
  Proxy: (mb) => new Proxy(FORMS["object of wide keys"](mb), {}),
  "objects in objects": (mb) => tree(5, Math.round((mb * 2e4) ** (1 / 5))),
  "list of instances": (mb) => Array.from({ length: mb * 2e4 }, () => new Wide(2)),
  "list of objects": (mb) =>
    Array.from({ length: mb * 2e4 }, (_, id) => ({ id, text: TEXT, tags: ["a", "b"] })),
  "nested lists": (mb) => Array.from({ length: mb * 200 }, () => Array(100).fill([[1, 2], TEXT])),
};

/** Ways of a value through a bridge. */
const WAYS = {
  audit: { audit: true },
  content: { captureContent: true },
  "content, redact": { captureContent: true, redact: (value) => value },
  "content, redact, audit": { captureContent: true, redact: (value) => value, audit: true },
};

/** What `JSON.stringify` is given. It has no form of its own for bytes and maps. */
function baselineOf(value) {
  if (ArrayBuffer.isView(value)) return Buffer.from(value).toString("base64");
  if (value instanceof Set) return [...value];
  return value instanceof Map ? Object.fromEntries(value) : value;
}

/** One call each a round. In between, what was kept for the log's answer is let go. */
async function apart(calls) {
  const times = calls.map(() => []);
  for (let round = 0; round < APART; round += 1) {
    for (const [n, call] of calls.entries()) {
      await setImmediate();
      const from = process.hrtime.bigint();
      call();
      times[n].push(Number(process.hrtime.bigint() - from));
    }
  }
  return times.map(median);
}

async function rowRows() {
  const event = { type: "tool_complete", run_id: "r", tenant_id: "acme", tool_use_id: "c" };
  const call = { ...event, tool: "t", tool_version: null, duration_ms: 1 };
  const write = (output) =>
    void new AuditSink({ log: new MemorySessionLog() }).send({ ...call, output }, {});
  const rows = [];
  for (const [value, make] of Object.entries(FORMS)) {
    const row = { value };
    for (const mb of GROWTH) {
      const content = make(mb);
      const plain = baselineOf(content);
      const [stringify, ours] = await apart([() => JSON.stringify(plain), () => write(content)]);
      row[`${mb} MB, ms`] = (ours / 1e6).toFixed(1);
      row[`${mb} MB, ratio`] = (ours / stringify).toFixed(1);
    }
    rows.push(row);
  }
  return rows;
}

/** Milliseconds of the agent's thread for a tool result of 5 MB, as in `Bridge.send`. */
async function bridgeRows() {
  const rows = [];
  for (const [value, make] of Object.entries(FORMS)) {
    const content = make(5);
    const calls = Object.values(WAYS).map(({ audit, ...options }) => () => {
      const log = audit ? new MemorySessionLog() : undefined;
      const bridge = new Bridge({ tracerProvider, ...options, audit: log });
      const call = { run_id: "r", tenant_id: "acme", tool: "t", tool_use_id: "c" };
      void bridge.send({ ...call, type: "tool_start", input: null }, {});
      const end = { ...call, type: "tool_complete", duration_ms: 1, output: content };
      void bridge.send(end, {});
    });
    const found = (await apart(calls)).map((each) => (each / 1e6).toFixed(1));
    rows.push({ value, ...Object.fromEntries(Object.keys(WAYS).map((way, n) => [way, found[n]])) });
  }
  return rows;
}

console.log("a value as JSON of 4 KB / JSON.stringify of what is kept of it");
console.table(valueRows());
if (!short) {
  console.table(await rowRows());
  show("values", await bridgeRows(), "medians of nine calls, ms by the wall clock");
}
