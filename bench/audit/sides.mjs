// The two sides: hand-written spans alone, and the bridge with an audit log that is durable and chained.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AlwaysOnSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { built } from "../built.mjs";
import { handWritten } from "../variants.mjs";

const { NdjsonSessionLog, verifyLog } = await built("audit.mjs");
const { Bridge, createIdGenerator } = await built("index.mjs");
const ROWS_A_RUN = 8;

const NOTHING = {
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

const provider = () =>
  new BasicTracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [NOTHING],
    idGenerator: createIdGenerator(),
  });

/** @returns `work`, which plays runs, and `end`, which throws where not every row was stored. */
export async function side(name) {
  if (name === "hand-written") return { work: handWritten(true), end: async () => {} };
  if (name === "bridge") {
    const bridge = new Bridge({ tracerProvider: provider() });
    return { work: (runs) => burst(bridge, runs), end: () => bridge.shutdown() };
  }
  const directory = mkdtempSync(join(tmpdir(), "entelix-otel-bench-"));
  const log = await NdjsonSessionLog.open(directory, { durability: "batch" });
  const bridge = new Bridge({ tracerProvider: provider(), audit: log });
  const play = { burst, "agents that wait": agents }[name];
  return {
    work: (runs) => play(bridge, runs),
    async end(runs) {
      await bridge.shutdown();
      await log.close();
      const { ok, end, rows, commits } = await verifyLog(directory);
      rmSync(directory, { recursive: true, force: true });
      if (!ok || end !== "closed" || rows !== runs * ROWS_A_RUN) {
        throw new Error(`${rows} rows, ok: ${ok}, end: ${end}`);
      }
      return { rowsACommit: rows / commits };
    },
  };
}

/** All at once; what is waited for is that each run's rows are on the disk. */
async function burst(bridge, runs) {
  const ends = [];
  for (const events of runs) {
    let told;
    for (let k = 0; k < events.length; k++) told = bridge.send(events[k]);
    if (told !== undefined) ends.push(told);
  }
  await Promise.all(ends);
}

/** As agents do: each waits until its row is on the disk before it goes on. */
async function agents(bridge, runs) {
  await Promise.all(runs.map((events) => agent(bridge, events)));
}

async function agent(bridge, events) {
  for (let k = 0; k < events.length; k++) {
    const told = bridge.send(events[k]);
    if (told !== undefined) await told;
  }
}
