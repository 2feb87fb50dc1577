// npm run bench: the bridge without an audit side against hand-written SDK calls that make equal spans,
// and replay against JSON.parse.
//
// Every figure is a ratio of two variants that take turns in one process, the median of its rounds, and
// the median of several processes (bytes: the best, since a collection only ever adds to them). Beside
// it stands a control, the hand-written calls against themselves: how far it is from 1 is how far any
// figure here can be trusted. `--short` is for CI: fewer rounds; ratios are printed, never judged.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { assertEqualSpans } from "./equal.mjs";
import { replayRows } from "./replay.mjs";
import { valueRows } from "./values.mjs";

const run = promisify(execFile);
const short = process.argv.includes("--short");
const PROCESSES = short ? 2 : 5;
const HERE = fileURLToPath(new URL(".", import.meta.url));
const BIG_NURSERY = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];

async function child(flags, file, args) {
  const { stdout } = await run(process.execPath, [...flags, file, ...args.map(String)], {
    cwd: HERE,
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function ratios(what, sampling) {
  const rounds = what === "bytes" ? 7 : short ? 11 : 41;
  const size = what === "bytes" ? 1000 : short ? 500 : 2000;
  const flags = what === "bytes" ? BIG_NURSERY : [];
  const ours = [];
  const control = [];
  for (let n = 0; n < PROCESSES; n++) {
    ours.push(await child(flags, "pair.mjs", [what, "bridge", sampling, rounds, size]));
    control.push(await child(flags, "pair.mjs", [what, "hand-written", sampling, rounds, size]));
  }
  const pick = what === "bytes" ? (values) => Math.min(...values) : median;
  return {
    ratio: pick(ours.map((one) => one.ratio)),
    spread: `${format(Math.min(...ours.map((o) => o.ratio)))}–${format(Math.max(...ours.map((o) => o.ratio)))}`,
    control: median(control.map((one) => one.ratio)),
    each: median(ours.map((one) => one.each)),
  };
}

const format = (value) => value.toFixed(3);
const rows = [];

function row(name, goal, result, unit) {
  rows.push({
    measure: name,
    ratio: format(result.ratio),
    goal: `<= ${goal.toFixed(2)}`,
    reached: result.ratio <= goal ? "yes" : "no",
    spread: result.spread,
    control: format(result.control),
    "per run": `${Math.round(result.each)} ${unit}`,
  });
}

console.log(`equal spans, ids included: ${assertEqualSpans()} compared`);
row("time, sampled", 1.05, await ratios("time", "sampled"), "ns");
row("bytes, sampled", 1.1, await ratios("bytes", "sampled"), "B");
row("time, not sampled", 0.6, await ratios("time", "unsampled"), "ns");
console.log(`bridge / hand-written SDK calls, ${PROCESSES} processes each`);
console.table(rows);

console.log("replay of each dialect, from bytes to spans / JSON.parse of the same lines");
console.table(await replayRows({ short }));

console.log("a value as JSON of 4 KB / JSON.stringify of what is kept of it");
console.table(valueRows());

const [runs, limit] = short ? [100_000, 500] : [1_000_000, 10_000];
const heap = await child(["--expose-gc"], "heap.mjs", [runs, limit]);
const megabytes = heap.grown / 2 ** 20;
console.log(
  `heap after ${runs} more runs, 1 in 100 never ended, limit ${limit} open: ` +
    `${megabytes.toFixed(2)} MB (goal <= 1), ${heap.open} open, ${heap.evicted} evicted`,
);
if (heap.open > limit || megabytes > 4) {
  console.error("bench: the state of open runs is not bounded");
  process.exitCode = 1;
}
