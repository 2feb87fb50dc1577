// `crowd.mjs sampled|unsampled OPEN PAIRS`: what a tool call's two events cost while so many runs are open, each time
// in another run. Prints JSON: us a call, of the main thread and of all threads.
import { threadTime } from "../thread-time.mjs";
import { runId, started, toolPair } from "./events.mjs";
import { openSink } from "./provider.mjs";

const [sampling, openText, pairsText] = process.argv.slice(2);
const open = Number(openText);
const pairs = Number(pairsText);
const SLICE = 2_000;
const sink = openSink(sampling === "sampled", open);
const ids = Array.from({ length: open }, runId);
for (let n = 0; n < open; n++) sink.send(started(ids[n], n));

/** The next run, far from the last one and the same sequence every time. */
let seed = 1;
function somewhere() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * open);
}

function slice() {
  const calls = Array.from({ length: SLICE }, () => {
    const n = somewhere();
    return toolPair(ids[n], n);
  });
  const cpu = process.cpuUsage();
  const from = threadTime();
  for (const [start, end] of calls) {
    sink.send(start);
    sink.send(end);
  }
  const thread = threadTime() - from;
  const { user, system } = process.cpuUsage(cpu);
  return { thread, all: user + system };
}

for (let n = 0; n < 15; n++) slice();
let thread = 0;
let all = 0;
const slices = Math.ceil(pairs / SLICE);
// The sum and not the median: the collector's rare long work is part of the price.
for (let n = 0; n < slices; n++) {
  const one = slice();
  thread += one.thread;
  all += one.all;
}
const { openRuns, adjustments } = sink.diagnostics();
if (openRuns !== open || adjustments.evicted_runs !== 0)
  throw new Error(`${openRuns} runs are open`);
const each = slices * SLICE;
console.log(JSON.stringify({ thread: thread / each, all: all / each }));
process.exit();
