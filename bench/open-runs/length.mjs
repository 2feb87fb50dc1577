// `length.mjs CALLS`: what a tool call costs after so many calls in its run, against one in a run that has just begun.
// Slices of both take turns. Prints JSON: that ratio after 10^4, 10^5, ... calls.
import { threadTime } from "../thread-time.mjs";
import { complete, runId, started, toolPair } from "./events.mjs";
import { openSink } from "./provider.mjs";

const most = Number(process.argv[2]);
const SLICE = 2_000;
const sink = openSink(true);

function slice(id) {
  const calls = Array.from({ length: SLICE }, () => toolPair(id, 0));
  const from = threadTime();
  for (const [start, end] of calls) {
    sink.send(start);
    sink.send(end);
  }
  return (threadTime() - from) / SLICE;
}

/** The same in a run of its own, whose start and end are outside the clock. */
function freshSlice() {
  const id = runId();
  sink.send(started(id, 0));
  const us = slice(id);
  sink.send(complete(id, 0));
  return us;
}

for (let n = 0; n < 30; n++) freshSlice();
const long = runId();
sink.send(started(long, 0));
const slices = [];
for (let done = 0; done < most; done += SLICE) {
  const even = (done / SLICE) % 2 === 0;
  const first = even ? slice(long) : freshSlice();
  const second = even ? freshSlice() : slice(long);
  slices.push(even ? [first, second] : [second, first]);
}

/** The ratio of the fifth of all slices that ends at so many calls. */
function near(calls) {
  const to = calls / SLICE;
  const some = slices.slice(Math.max(0, Math.floor(to * 0.8)), to);
  const sum = (which) => some.reduce((total, pair) => total + pair[which], 0);
  return { calls, ratio: sum(0) / sum(1), each: sum(0) / some.length };
}

const { adjustments } = sink.diagnostics();
const at = [1e4, 1e5, most].filter((calls, n, all) => calls <= most && all.indexOf(calls) === n);
console.log(JSON.stringify({ at: at.map(near), forgotten: adjustments.forgotten_call_ids }));
await sink.shutdown();
