// `node --expose-gc heap.mjs sampled|unsampled|span RUNS`: bytes of heap that an open run takes, without the strings
// that came with its event; `span`: a span of the SDK alone, kept by run id. Prints JSON.
import { runId, started } from "./events.mjs";
import { openSink, openSpans } from "./provider.mjs";

const [sampling, runsText] = process.argv.slice(2);
const count = Number(runsText);
// As many more for the warm-up.
const WARM = 1_000;
const sink = sampling === "span" ? openSpans() : openSink(sampling === "sampled", count + WARM);

async function heap() {
  // More than once with a turn between: what is freed late counts as free.
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const ids = Array.from({ length: count }, runId);
// Code is compiled and tables have their first size before it counts.
for (let n = 0; n < WARM; n++) sink.send(started(runId(), n));
const before = await heap();
for (let n = 0; n < count; n++) sink.send(started(ids[n], n));
const after = await heap();
const { openRuns } = sink.diagnostics();
if (openRuns !== WARM + count) throw new Error(`${openRuns} runs are open`);
console.log(JSON.stringify({ bytes: (after - before) / count, ids: ids.length }));
await sink.shutdown();
