// What one warm `tool_complete` goes through, from `send` to the bytes of its row: files of src,
// functions and calls, by V8's own counts. `node bench/path.mjs [--list]` prints them with and without an
// audit log; --list names each function. It runs the source: bundled, files could not be told apart.
import { mkdtemp, rm } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { register } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AlwaysOnSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { makeRuns } from "./workload.mjs";

register("./path/strip-types.mjs", import.meta.url);
const { Bridge, createIdGenerator } = await import("../src/index.ts");
const { NdjsonSessionLog } = await import("../src/entries/audit.ts");

const SRC = new URL("../src/", import.meta.url).href;
const list = process.argv.includes("--list");

async function pathOf(audit) {
  const tracerProvider = new BasicTracerProvider({
    sampler: new AlwaysOnSampler(),
    idGenerator: createIdGenerator(),
  });
  const bridge = new Bridge({ tracerProvider, audit });
  for (const events of makeRuns(200)) for (const event of events) await bridge.send(event);
  const [events] = makeRuns(1, 200);
  const end = events.findIndex(({ type }) => type === "tool_complete");
  for (const event of events.slice(0, end)) await bridge.send(event);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await bridge.send(events[end]);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  await bridge.shutdown();
  return result
    .filter(({ url }) => url.startsWith(SRC))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges }) => ranges[0].count > 0)
        .map(({ functionName, ranges }) => ({
          file: url.slice(SRC.length),
          name: functionName || "(anonymous)",
          calls: ranges[0].count,
        })),
    );
}

const directory = await mkdtemp(join(tmpdir(), "entelix-path-"));
const log = await NdjsonSessionLog.open(directory);
const rows = {};
for (const [name, audit] of [
  ["bridge", undefined],
  ["bridge with NdjsonSessionLog", log],
]) {
  const path = await pathOf(audit);
  rows[name] = {
    files: new Set(path.map(({ file }) => file)).size,
    functions: path.length,
    calls: path.reduce((sum, { calls }) => sum + calls, 0),
  };
  if (list) for (const { file, name: fn, calls } of path) console.log(`${file}  ${fn}  ${calls}`);
}
await log.close();
await rm(directory, { recursive: true });
console.table(rows);
