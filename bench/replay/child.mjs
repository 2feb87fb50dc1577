// One process of the comparison: `child DIALECT replay|exact|control ROUNDS`, bundled, since it imports
// the sources. Base and variant take turns in slices of some ms, A B, B A, ...; prints JSON.
import { parseExact } from "../../src/events/exact-json.ts";
import { readTimestamp } from "../../src/events/timestamp.ts";
import { checkReplay } from "./check.mjs";
import { freshBatches } from "./copies.mjs";
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
function slicesOfRound() {
  return Array.from({ length: SLICES }, () => {
    const { value: lines } = batches.next();
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    return { lines: bytes.toString().trimEnd().split("\n"), bytes };
  });
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

const base = what === "control" ? replay() : jsonParse();
const other = what === "exact" ? exact() : replay();

/**
 * CPU time in ns, of the collector's threads too: on a machine that is shared, what waits for a core is
 * mostly the longer slice, and wall time would count that against it.
 */
async function time(variant, slice) {
  const from = process.cpuUsage();
  await variant(slice);
  const { user, system } = process.cpuUsage(from);
  return (user + system) * 1000;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const ratios = [];
const baseNs = [];
const ours = [];
let lineBytes = 0;
for (let round = 0; round < WARM_UP + rounds; round++) {
  let a = 0;
  let b = 0;
  let lines = 0;
  const slices = slicesOfRound();
  lineBytes = slices[0].bytes.length / slices[0].lines.length;
  for (const [n, slice] of slices.entries()) {
    lines += slice.lines.length;
    if (n % 2 === 0) a += await time(base, slice);
    b += await time(other, slice);
    if (n % 2 !== 0) a += await time(base, slice);
  }
  if (round < WARM_UP) continue;
  ratios.push(a / b);
  baseNs.push(a / lines);
  ours.push(b / lines);
}
console.log(
  JSON.stringify({
    ratio: median(ratios),
    base: median(baseNs),
    each: median(ours),
    lineBytes,
    spansPerLine: checked.spans / checked.lines,
  }),
);
