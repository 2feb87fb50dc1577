// One process of the comparison: `child DIALECT replay|exact|floor|control ROUNDS`, bundled, since it imports
// the sources. Base and variant take turns in slices of some ms, A B, B A, ...; prints JSON.
import { parseExact } from "../../src/entries/events.ts";
import { readTimestamp } from "../../src/events/door.ts";
import { checkReplay } from "./check.mjs";
import { freshBatches } from "./copies.mjs";
import { floor, SpanCalls } from "./floor.mjs";
import { Replay } from "./replay.mjs";
import { STREAMS } from "./streams.mjs";

const [dialect, what, roundsText] = process.argv.slice(2);
const rounds = Number(roundsText);
/** What is compiled last is compiled after a hundred thousand lines. */
const WARM_UP = Math.ceil(rounds * 0.6);
const SLICES = 8;
const SLICE_LINES = 1000;

const streams = STREAMS[dialect]();
const checked = await checkReplay(dialect, streams);

const batches = freshBatches(streams, SLICE_LINES);

/** Made before the clock runs; so much is thrown away meanwhile that the collector has moved the rest. */
async function slicesOfRound() {
  const slices = [];
  for (let n = 0; n < SLICES; n++) {
    const { value: lines } = batches.next();
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    const slice = { lines: bytes.toString().trimEnd().split("\n"), bytes };
    slices.push(calls === undefined ? slice : await calls.of(slice));
  }
  // What stands for compiled code must not be moved on the clock.
  if (calls !== undefined) globalThis.gc();
  return slices;
}

function jsonParse() {
  let objects = 0;
  return ({ lines }) => {
    for (let n = 0; n < lines.length; n += 1) {
      if (typeof JSON.parse(lines[n]) === "object") objects += 1;
    }
    return objects;
  };
}

/** What reading costs that keeps every digit: of integers, and of times to the nanosecond. */
function exact() {
  let nanoseconds = 0;
  return ({ lines }) => {
    for (let n = 0; n < lines.length; n += 1) {
      const value = parseExact(lines[n]);
      const { timestamp = value.event?.timestamp } = value;
      nanoseconds += readTimestamp(timestamp)[1];
    }
    return nanoseconds;
  };
}

function replay() {
  const one = new Replay(dialect);
  return ({ bytes }) => one.take(bytes);
}

const calls = what === "floor" ? new SpanCalls(dialect) : undefined;
const base = what === "control" ? replay() : jsonParse();
const other = { exact, floor, replay, control: replay }[what]();

/**
 * In ns: CPU time, of the collector's threads too, and time by the wall clock. On a machine that is shared, what
 * waits for a core is mostly the longer slice, and the wall clock counts that against it; on a quiet one the
 * collector's threads have a core of their own, and cost no time.
 */
async function time(variant, slice) {
  const from = process.cpuUsage();
  const began = process.hrtime.bigint();
  await variant(slice);
  const wall = Number(process.hrtime.bigint() - began);
  const { user, system } = process.cpuUsage(from);
  return { cpu: (user + system) * 1000, wall };
}

function add(sum, { cpu, wall }) {
  sum.cpu += cpu;
  sum.wall += wall;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const ratios = [];
const walls = [];
const baseNs = [];
const ours = [];
let lineBytes = 0;
for (let round = 0; round < WARM_UP + rounds; round++) {
  const a = { cpu: 0, wall: 0 };
  const b = { cpu: 0, wall: 0 };
  let lines = 0;
  const slices = await slicesOfRound();
  lineBytes = slices[0].bytes.length / slices[0].lines.length;
  for (const [n, slice] of slices.entries()) {
    lines += slice.lines.length;
    if (n % 2 === 0) add(a, await time(base, slice));
    add(b, await time(other, slice));
    if (n % 2 !== 0) add(a, await time(base, slice));
  }
  if (round < WARM_UP) continue;
  ratios.push(a.cpu / b.cpu);
  walls.push(a.wall / b.wall);
  baseNs.push(a.cpu / lines);
  ours.push(b.wall / lines);
}
console.log(
  JSON.stringify({
    ratio: median(ratios),
    wall: median(walls),
    base: median(baseNs),
    each: median(ours),
    lineBytes,
    spansPerLine: checked.spans / checked.lines,
  }),
);
