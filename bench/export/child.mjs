// One process of the comparison, bundled, since it imports the sources: `child WHAT SIDE URL COUNT`. Prints JSON.
//   cpu    CPU of creating, encoding and sending, all threads, in us a span; the median of COUNT slices
//   burst  COUNT spans in one tick, then a shutdown; the most memory that it held
//   waiting  the same; the memory that was held at the end of the tick, after a collection
//   paced  120,000 spans a second, COUNT in all, then a shutdown
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { makeRuns } from "../workload.mjs";
import { Held } from "./held.mjs";
import { side } from "./sides.mjs";

const [what, name, url, text] = process.argv.slice(2);
const count = Number(text);
const { counted, make, processor } = side(name, url);
const SPANS_A_RUN = 4;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

let made = 0;
function runs(count) {
  const all = makeRuns(count, made);
  made += count;
  return all;
}

/** The event loop turns after so many runs, so that requests go out meanwhile. */
const TURN = 100;
const SLICE = 2_000;

async function slice() {
  const turns = Array.from({ length: SLICE / TURN }, () => runs(TURN));
  const before = process.cpuUsage();
  for (const turn of turns) {
    make(turn);
    await nextTurn();
  }
  await processor.forceFlush();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (SLICE * SPANS_A_RUN);
}

async function cpu() {
  for (let n = 0; n < 5; n++) await slice();
  const slices = [];
  for (let n = 0; n < count; n++) slices.push(await slice());
  return { us: median(slices) };
}

/** Looks at the memory so often within the tick. */
const LOOKS = 100;

async function burst() {
  const all = runs(count / SPANS_A_RUN);
  const size = all.length / LOOKS;
  const parts = Array.from({ length: LOOKS }, (_, n) => all.slice(n * size, (n + 1) * size));
  const held = new Held();
  for (const part of parts) {
    make(part);
    held.look();
  }
  await held.lookUntil(processor.shutdown().catch(() => {}));
  // Until here: what they were made from must not go meanwhile, and pass for room.
  return { ...held.most(), runs: parts.flat().length };
}

async function waiting() {
  const all = runs(count / SPANS_A_RUN);
  const held = new Held();
  make(all);
  // In the tick, so nothing has been sent yet.
  const waiting = held.withoutGarbage();
  await processor.shutdown().catch(() => {});
  return { waiting, runs: all.length };
}

async function paced() {
  const all = runs(count / SPANS_A_RUN);
  const begin = performance.now();
  let next = 0;
  while (next < all.length) {
    const due = Math.min(Math.floor((performance.now() - begin) * 30), all.length);
    // A machine that can't make so many makes as many as it can, but no burst of what is left.
    const to = Math.min(due, next + TURN);
    make(all.slice(next, to));
    next = to;
    await (to < due ? nextTurn() : sleep(1));
  }
  const seconds = (performance.now() - begin) / 1000;
  await processor.shutdown().catch(() => {});
  return { rate: (all.length * SPANS_A_RUN) / seconds };
}

const result = await { cpu, burst, waiting, paced }[what]();
console.log(JSON.stringify({ ...result, ended: made * SPANS_A_RUN, counted: counted() }));
// Requests that nobody waits for any more would keep it alive.
process.exit();
