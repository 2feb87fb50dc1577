// `depth.mjs DEEP ROUNDS`: what a run nested in a tool call costs when so many are nested in each other, against
// nests of ten. Of both as many runs are open at once, and as many open and close. Prints JSON.
import { threadTime } from "../thread-time.mjs";
import { complete, runId, started, toolPair } from "./events.mjs";
import { openSink } from "./provider.mjs";

const [deep, rounds] = process.argv.slice(2).map(Number);
const FLAT = 10;
const RUNS = Math.max(deep, 1_000);
const sink = openSink(true);

/** Events of nests: each run is started by a tool call of the one around it; all are open before one ends. */
function nests(depth) {
  const down = [];
  const up = [];
  let parent = null;
  for (let n = 0; n < RUNS; n++) {
    const id = runId();
    const [call, answer] = toolPair(id, 0);
    down.push(started(id, 0, n % depth === 0 ? null : parent), call);
    up.push(complete(id, 0), answer);
    parent = id;
  }
  return [...down, ...up.reverse()];
}

function play(depth) {
  const events = nests(depth);
  const from = threadTime();
  for (const event of events) sink.send(event);
  return (threadTime() - from) / RUNS;
}

for (let n = 0; n < 20; n++) {
  play(FLAT);
  play(deep);
}
let base = 0;
let ours = 0;
for (let n = 0; n < rounds; n++) {
  if (n % 2 === 0) base += play(FLAT);
  ours += play(deep);
  if (n % 2 === 1) base += play(FLAT);
}
const { openRuns } = sink.diagnostics();
if (openRuns !== 0) throw new Error(`${openRuns} runs are open`);
console.log(JSON.stringify({ ratio: ours / base, each: ours / rounds }));
await sink.shutdown();
