// One process, one variant: `node child.mjs time|spans FRAMEWORK WORKLOAD VARIANT SLICES RUNS WARM`,
// WARM the slices that come before.
// It prints as JSON what a run costs, in µs of time and of the processor, or what spans it makes.
import { NOTHING, SeenSpans } from "./seen-spans.mjs";

const [what, framework, workloadName, variantName, slices, runs, warm] = process.argv.slice(2);
const { VARIANTS } = await import(`./${framework}-variants.mjs`);
const { WORKLOADS } = await import(`./${framework}-workloads.mjs`);
const workload = WORKLOADS[workloadName];
const seen = new SeenSpans();
const variant = await VARIANTS[variantName](what === "spans" ? seen : NOTHING);
const { handler, flush } = variant;
const count = Number(runs);
let made = 0;

function batch() {
  const from = made;
  made += count;
  return Array.from({ length: count }, (_, n) => workload.prepare(from + n));
}

/** @param used the handler; none for one that does nothing, in its place. */
async function slice(used) {
  const inputs = batch();
  const cpu = process.cpuUsage();
  const from = process.hrtime.bigint();
  for (const input of inputs) await workload.play(used, input);
  await workload.settle?.();
  // A processor of the variant's own has its exporter to feed; the others have nothing left to do.
  if (variant.hasProcessor && used !== undefined) await flush();
  const time = Number(process.hrtime.bigint() - from) / 1000 / count;
  const { user, system } = process.cpuUsage(cpu);
  return { time, cpu: (user + system) / count };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

if (what === "spans") {
  for (const input of batch()) await workload.play(handler, input);
  await workload.settle?.();
  await flush();
  await new Promise((resolve) => setImmediate(resolve));
  console.log(JSON.stringify(seen.told(count, workload.parts)));
} else {
  const costs = [];
  const alone = [];
  for (let n = -Number(warm); n < Number(slices); n++) {
    // The framework's own work stands in both, in turn, with a handler that does nothing, and is taken off.
    const without = workload.framework && n % 2 === 0 ? await slice(undefined) : undefined;
    const cost = await slice(handler);
    const base = workload.framework ? (without ?? (await slice(undefined))) : { time: 0, cpu: 0 };
    if (n < 0) continue;
    alone.push(base.time);
    costs.push({ time: cost.time - base.time, cpu: cost.cpu - base.cpu });
  }
  const result = {
    time: median(costs.map(({ time }) => time)),
    cpu: median(costs.map(({ cpu }) => cpu)),
    alone: median(alone),
  };
  console.log(JSON.stringify(result));
}
// An SDK of a peer may keep timers.
process.exit();
