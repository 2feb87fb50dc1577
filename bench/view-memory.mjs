// npm run build && node --expose-gc bench/view-memory.mjs [ROWS] [--write]: how much memory the server of `view` takes for an
// audit log of a million rows, six a run. The list has at most 100,000
// runs.
//
// The log is followed, as `view` does it, so that what a replay keeps for events to come counts, too.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { build } from "tsdown";
import { NdjsonSessionLog } from "../dist/audit.mjs";
import { show } from "./page.mjs";
import { NAMES } from "./processes.mjs";

const ROWS = 6;
/** Runs of the list. */
const LISTED = 100_000;
/** In MB: Node gives itself 1 GB of heap on a machine with 2 GB. */
const GOAL = 500;
const [rows = 1_000_000] = NAMES.map(Number);
const runs = Math.ceil(rows / ROWS);

const folder = mkdtempSync(join(tmpdir(), "entelix-otel-bench-view-"));
const built = join(import.meta.dirname, "..", "dist", `bench-view-${process.pid}`);
try {
  const entry = join(import.meta.dirname, "..", "src", "view", "commands", "open-sources.ts");
  await build({
    config: false,
    entry: { sources: entry },
    // Where the packages are found.
    outDir: built,
    format: "esm",
    platform: "node",
    dts: false,
    logLevel: "error",
    external: /^[^./]/,
  });
  const { openSources } = await import(pathToFileURL(join(built, "sources.mjs")).href);
  await writeLog(join(folder, "log"));
  const before = await memory();
  const sources = await openSources([join(folder, "log")], { follow: true, content: true }, io());
  const started = process.cpuUsage();
  await sources.ready();
  const cpu = process.cpuUsage(started);
  const after = await memory();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  const listStarted = performance.now();
  let listBytes = 0;
  for (const piece of sources.listJson()) listBytes += piece.length;
  const listMs = performance.now() - listStarted;
  const key = sources.keysOf(runId(runs - Math.ceil(Math.min(runs, LISTED) / 2)))[0];
  const detailStarted = performance.now();
  const detail = await sources.detail(key);
  const detailMs = performance.now() - detailStarted;
  const found = {
    "rows of the log": runs * ROWS,
    runs,
    "left out": sources.list([]).left_out ?? 0,
    "heap, MB": Math.round(bytes / 1e6),
    goal: `<= ${GOAL}`,
    reached: bytes <= GOAL * 1e6 ? "yes" : "no",
    "bytes of a listed run": Math.round(bytes / Math.min(runs, LISTED)),
    "to read, s of CPU": ((cpu.user + cpu.system) / 1e6).toFixed(1),
    "JSON of the list, MB": (listBytes / 1e6).toFixed(1),
    "to make it, ms": Math.round(listMs),
    "to open a run, ms": Math.round(detailMs),
  };
  if (detail.spans.length === 0 || detail.rows.length === 0) throw new Error("no run was opened");
  show("view-memory", [found], "one process");
  await sources.close();
} finally {
  rmSync(built, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

function io() {
  const output = { line: () => {}, style: (_, text) => text };
  return { out: output, err: output, stdin: new PassThrough(), stdout: new PassThrough(), env: {} };
}

async function memory() {
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage();
}

function runId(n) {
  return `018f3c7a-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

async function writeLog(directory) {
  const log = await NdjsonSessionLog.open(directory, { durability: "none" });
  for (let at = 0; at < runs; at += 1_000) {
    const many = Array.from({ length: Math.min(1_000, runs - at) }, (_, n) =>
      writeRun(log, at + n),
    );
    await Promise.all(many);
  }
  await log.close();
}

function writeRun(log, n) {
  const run_id = runId(n);
  const hex = run_id.replaceAll("-", "");
  let row = 0;
  const timestamp = () => new Date(Date.UTC(2026, 0, 1) + n * 50 + row * 40).toISOString();
  const entry = (event) => {
    row += 1;
    const ids = { run_id, trace_id: hex, span_id: hex.slice(16), event_id: `${run_id}/${row}` };
    return { ...ids, event: { ...event, timestamp: timestamp() } };
  };
  const call = (id) => [
    entry({ kind: "tool_call", id, name: "search", input: { q: `question ${n}` } }),
    entry({
      kind: "tool_result",
      tool_use_id: id,
      name: "search",
      content: { found: n },
      is_error: false,
    }),
  ];
  const ends = n % 20 === 0 ? { outcome: "failed" } : { outcome: "complete" };
  return log.append({ tenant_id: `tenant-${n % 10}`, thread_id: `thread-${n}` }, [
    entry({ kind: "entelix.run_started", agent: `agent-${n % 7}` }),
    ...call("t-1"),
    ...call("t-2"),
    entry({ kind: "entelix.run_ended", ...ends, tool_calls: 2, tool_errors: 0 }),
  ]);
}
