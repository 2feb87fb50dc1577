// One process of a comparison: base and variant in turn, A B, B A, ...; prints the median of the paired
// ratios as JSON. `node pair.mjs time|bytes VARIANT sampled|unsampled ROUNDS RUNS`.
import { PerformanceObserver } from "node:perf_hooks";
import { VARIANTS } from "./variants.mjs";
import { makeRuns } from "./workload.mjs";

const [what, name, sampling, rounds, size] = process.argv.slice(2);
const sampled = sampling === "sampled";
const base = VARIANTS["hand-written"](sampled);
const other = VARIANTS[name](sampled);
const count = Number(size);

let made = 0;
function batch(size = count) {
  const runs = makeRuns(size, made);
  made += size;
  return runs;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/**
 * Few runs wait at a time: a collection copies what waits, and would make a variant pay for the
 * workload in place of what it allocates itself. And the variants take turns as often, so that what
 * disturbs the machine for longer than a millisecond disturbs both.
 */
const SLICE = 100;

function time(variant) {
  const runs = batch(SLICE);
  const from = process.hrtime.bigint();
  variant(runs);
  return Number(process.hrtime.bigint() - from) / SLICE;
}

/** Bytes allocated; NaN when a collection ran in between and hid some. */
async function bytes(variant) {
  const runs = batch();
  globalThis.gc();
  const seen = new PerformanceObserver(() => {});
  seen.observe({ entryTypes: ["gc"] });
  const before = process.memoryUsage().heapUsed;
  variant(runs);
  const after = process.memoryUsage().heapUsed;
  await new Promise((resolve) => setImmediate(resolve));
  const collected = seen.takeRecords().length;
  seen.disconnect();
  return collected > 0 ? Number.NaN : (after - before) / count;
}

const measure = what === "bytes" ? bytes : time;
for (let n = 0; n < 6; n++) {
  base(batch());
  other(batch());
}
const ratios = [];
const ours = [];
const turns = what === "bytes" ? Number(rounds) : (Number(rounds) * count) / SLICE;
for (let round = 0; round < turns; round++) {
  let a;
  let b;
  if (round % 2 === 0) {
    a = await measure(base);
    b = await measure(other);
  } else {
    b = await measure(other);
    a = await measure(base);
  }
  if (Number.isFinite(a) && Number.isFinite(b)) {
    ratios.push(b / a);
    ours.push(b);
  }
}
console.log(JSON.stringify({ ratio: median(ratios), each: median(ours), rounds: ratios.length }));
