// One process of the comparison: `child SIDE RUNS ROUNDS RUNS_A_ROUND`, so many runs at a time. Prints JSON: us a run
// of the main thread, of all threads, and by the wall clock.

import { THREAD_CLOCK, threadTime } from "../thread-time.mjs";
import { makeRuns } from "../workload.mjs";
import { side } from "./sides.mjs";

const [name, ...counts] = process.argv.slice(2);
const [size, rounds, runsARound] = counts.map(Number);
const turns = Math.ceil(runsARound / size);
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const { work, end } = await side(name);
let made = 0;

async function round() {
  let thread = 0;
  let wall = 0;
  let all = 0;
  for (let n = 0; n < turns; n++) {
    const runs = makeRuns(size, made);
    made += size;
    const cpu = process.cpuUsage();
    const began = performance.now();
    const from = threadTime();
    await work(runs);
    thread += threadTime() - from;
    wall += (performance.now() - began) * 1000;
    const { user, system } = process.cpuUsage(cpu);
    all += user + system;
  }
  return [thread, all, wall].map((us) => us / (turns * size));
}

for (let n = 0; n < Math.ceil(rounds / 3); n++) await round();
const each = [];
for (let n = 0; n < rounds; n++) each.push(await round());
const [thread, all, wall] = [0, 1, 2].map((n) => median(each.map((one) => one[n])));
const found = await end(made);
console.log(JSON.stringify({ thread, all, wall, clock: THREAD_CLOCK, ...found }));
