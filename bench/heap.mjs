// One million runs, one in a hundred never ended: once the limit on open runs is reached the heap stays
// flat. `node --expose-gc heap.mjs RUNS LIMIT`; prints JSON.
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { built } from "./built.mjs";
import { makeRuns } from "./workload.mjs";

const { Bridge, createIdGenerator } = await built("index.mjs");
const [total, openRuns] = process.argv.slice(2).map(Number);
const sink = new Bridge({
  tracerProvider: new BasicTracerProvider({ idGenerator: createIdGenerator(), spanProcessors: [] }),
  limits: { openRuns, closedRuns: openRuns },
});

function play(count) {
  const batch = 1000;
  for (let done = 0; done < count; done += batch) {
    for (const [n, events] of makeRuns(batch, done).entries()) {
      const ends = n % 100 !== 0;
      for (let k = 0; k < (ends ? 8 : 7); k++) sink.send(events[k]);
    }
  }
}

async function heap() {
  // Twice with a turn between: what is freed late counts as free.
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

// The limit is reached when as many runs were left open; as many again to settle.
play(openRuns * 200);
const before = await heap();
const opened = sink.diagnostics().openRuns;
play(total);
const after = await heap();
const { openRuns: open, adjustments } = sink.diagnostics();
console.log(
  JSON.stringify({
    grown: after - before,
    opened,
    open,
    evicted: adjustments.evicted_runs,
    runs: total,
  }),
);
await sink.shutdown();
