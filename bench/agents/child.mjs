// One process with one instrumentation: `node child.mjs JSON`, what it measures as JSON. It prints JSON.
//
// CPU time is that of the whole process, with the exporter, in µs.
import { setImmediate } from "node:timers/promises";

const { framework, measure, side, url, ...options } = JSON.parse(process.argv[2]);
const { IDLE, SIDES, workload } = await import(`./${framework}.mjs`);

function cpuTime() {
  const { system, user } = process.cpuUsage();
  return system + user;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const idle = () => ({ handler: IDLE, flush: async () => {} });
const instrumented = () => (side === "idle" ? idle() : SIDES[side]({ url }));

/** @returns the CPU time of so many runs, one after the other, until their spans are sent. */
async function slice(work, runs, { flush, handler }) {
  const inputs = Array.from({ length: runs }, () => work.prepare?.());
  const from = cpuTime();
  for (const input of inputs) await work.play(handler, input);
  await work.settle?.();
  await flush();
  return cpuTime() - from;
}

const received = async () => (await fetch(`${url}/counts`)).json();

/**
 * CPU time of a run when the process is warm. Slices with the instrumentation and with an idle handler take turns; the
 * latter are the framework's own work, which is subtracted.
 */
async function warm({ cases }) {
  const used = await instrumented();
  const results = [];
  for (const { runs, size, slices, turns, warmUp } of cases) {
    const work = await workload({ size, turns });
    const costs = [];
    const alone = [];
    await received();
    for (let n = -warmUp; n < slices; n++) {
      const first = n % 2 === 0 ? used : idle();
      const one = await slice(work, runs, first);
      const other = await slice(work, runs, first === used ? idle() : used);
      if (n < 0) continue;
      const [own, base] = first === used ? [one, other] : [other, one];
      costs.push((own - base) / runs);
      alone.push(base / runs);
    }
    const made = (warmUp + slices) * runs;
    const { bytes, missing, roots, spans, traces } = await received();
    if (spans === 0 || spans % made !== 0) {
      throw new Error(`${framework}, ${side}: ${spans} spans of ${made} runs: some were lost`);
    }
    const counts = { spans: spans / made, traces: traces / made, roots: roots / made };
    const cost = median(costs);
    results.push({ cost, alone: median(alone), bytes: bytes / made, missing, ...counts });
  }
  return results;
}

/** CPU time of the import and set-up, and of all runs up to each edge, from the first run of the process. */
async function cold({ edges, size, turns }) {
  const work = await workload({ size, turns });
  const from = cpuTime();
  const used = await instrumented();
  const setup = cpuTime() - from;
  const blocks = [];
  let done = 0;
  for (const edge of edges) {
    let spent = 0;
    while (done < edge) {
      const runs = Math.min(40, edge - done);
      spent += await slice(work, runs, used);
      done += runs;
    }
    blocks.push(spent);
  }
  return { setup, blocks };
}

async function heap() {
  // Twice with a turn between: what is freed late counts as free.
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await setImmediate();
  }
  const { external, heapUsed } = process.memoryUsage();
  return heapUsed + external;
}

/** Heap and CPU time of a run when so many are open at once, all of them at their last model call. */
async function open({ counts, size, turns }) {
  const used = await instrumented();
  let waiting = 0;
  let gate;
  const hold = () => {
    waiting += 1;
    return gate;
  };
  const work = await workload({ hold, size, turns });
  for (let n = 0; n < 5; n++) await slice(work, 100, used);
  const results = [];
  for (const count of counts) {
    let release;
    gate = new Promise((resolve) => {
      release = resolve;
    });
    waiting = 0;
    const before = await heap();
    let from = cpuTime();
    const runs = Array.from({ length: count }, () => work.play(used.handler));
    while (waiting < count) await setImmediate();
    let spent = cpuTime() - from;
    const held = await heap();
    from = cpuTime();
    release();
    await Promise.all(runs);
    await used.flush();
    spent += cpuTime() - from;
    results.push({ heap: (held - before) / count, cost: spent / count });
  }
  return results;
}

console.log(JSON.stringify(await { warm, cold, open }[measure](options)));
// An SDK may keep timers.
process.exit();
