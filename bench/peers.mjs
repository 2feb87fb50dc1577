// node bench/peers.mjs [--short] [--write] [NAME…]: what our adapters cost a run, beside the
// instrumentations that a user would pick instead. Needs a build; `node scripts/servers/install.mjs peers` installs the
// others. All of it takes about ten minutes on a quiet machine; `--short` is a first look, NAME a framework or a
// workload, and `--write` puts what was measured into docs/benchmarks.md.
//
// Every variant has content on, makes spans with the same SDK, and hands them to a span processor that does nothing.
// One variant a process; the processes take turns, so that what disturbs the machine disturbs all, and each round gives
// one ratio. A figure is the median of the rounds. Where the framework itself is run, its own work is measured in the
// same process, in turn, with a handler that does nothing, and taken off. So is the work of playing a recording, where
// the framework takes so long that a cost would be lost in it. Beside each table stands a control, ours against ours.
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { newerNode } from "./newer-node.mjs";
import { writePage } from "./peers/page.mjs";
import { makeProject } from "./peers/project.mjs";

const run = promisify(execFile);
const short = process.argv.includes("--short");
const ROUNDS = short ? 3 : 5;
/**
 * Slices of a process, runs of a slice, and slices to warm up: the engine takes thousands of callbacks to settle. A
 * graph takes thirty times as long as its callbacks alone. To play a recording takes as long as callbacks.
 */
const SIZES = short
  ? { callbacks: [30, 100, 20], framework: [20, 20, 20], graph: [15, 10, 20] }
  : { callbacks: [40, 100, 40], framework: [30, 20, 40], graph: [25, 10, 25] };
/** Workloads that play a recording of the framework. */
const RECORDED = new Set(["query", "events"]);

/** What is compared with ours; only what makes OpenTelemetry spans is judged. */
const PEERS = {
  langchain: ["openinference", "langfuse", "langfuse-processor", "traceloop"],
  "openai-agents": ["openinference", "langfuse-processor"],
  "ai-sdk": ["ai-sdk-otel", "langfuse", "langfuse-processor"],
  "claude-agent": ["openinference", "langfuse-processor"],
  mastra: ["otel-exporter", "otel-bridge", "openinference", "langfuse-processor"],
};
const WORKLOADS = {
  langchain: ["tools", "callbacks", "chain", "graph"],
  "openai-agents": ["callbacks", "agent"],
  "ai-sdk": ["agent"],
  "claude-agent": ["query"],
  mastra: ["events"],
};
/** Those in which the framework itself runs. */
const FRAMEWORK = new Set(["chain", "graph", "agent"]);
/** Most of the cheapest's cost that ours may be. */
const GOALS = {
  langchain: 1 / 3,
  "openai-agents": 1 / 3,
  "ai-sdk": 1 / 2,
  "claude-agent": 1 / 2,
  mastra: 1 / 2,
};

const folder = makeProject();
/** Frameworks that ask for a newer Node than this package. */
const NEWER = new Set(["ai-sdk", "mastra"]);
let newer;

function nodeFor(framework) {
  if (!NEWER.has(framework)) return process.execPath;
  newer ??= newerNode();
  return newer;
}

async function child(what, framework, ...args) {
  const program = ["child.mjs", what, framework, ...args.map(String)];
  const { stdout } = await run(nodeFor(framework), program, {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** One process for each variant in turn, the next round in the other direction. */
async function rounds(framework, workload, variants) {
  const sizes = SIZES[workload] ?? (FRAMEWORK.has(workload) ? SIZES.framework : SIZES.callbacks);
  const costs = new Map(variants.map((variant) => [variant, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const variant of round % 2 === 0 ? variants : [...variants].reverse()) {
      const name = variant === "ours again" ? "ours" : variant;
      costs.get(variant).push(await child("time", framework, workload, name, ...sizes));
    }
  }
  return costs;
}

/** Of each round's ours / theirs. */
function ratios(ours, theirs, what) {
  const each = ours.map((one, round) => one[what] / theirs[round][what]);
  return {
    ratio: median(each),
    spread: `${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)}`,
  };
}

async function compare(framework, workload) {
  const floor = framework === "langchain" && !FRAMEWORK.has(workload) ? ["hand-written"] : [];
  const variants = ["ours", ...PEERS[framework], ...floor, "ours again"];
  const costs = await rounds(framework, workload, variants);
  const ours = costs.get("ours");
  const rows = [];
  for (const variant of variants) {
    const own = costs.get(variant);
    const name = variant === "ours again" ? "ours" : variant;
    const made = await child("spans", framework, workload, name, 1, 10);
    const time = ratios(ours, own, "time");
    rows.push({
      variant: variant === "ours again" ? "ours (control)" : variant,
      "µs/run": round1(median(own.map((one) => one.time))),
      "ours / it": time.ratio.toFixed(3),
      spread: time.spread,
      "cpu µs/run": round1(median(own.map((one) => one.cpu))),
      "ours / it, cpu": ratios(ours, own, "cpu").ratio.toFixed(3),
      "spans/run": made.spans,
      "traces/run": made.traces,
      "without parent": made.roots,
      "a tool's span":
        made.names.find((each) => each.includes("search_docs")) ?? TOOL.exec(made.names)?.[0],
      "bytes/run": made.bytes,
      "payload missing": made.missing.join(", ") || "none",
    });
  }
  const alone = median(ours.map((one) => one.alone));
  const idle = RECORDED.has(workload) ? "the recording" : "the framework";
  const base = alone === 0 ? "" : `, ${idle} with an idle handler ${round1(alone)} µs/run`;
  console.log(`\n${framework}, ${workload}: ${ROUNDS} processes each${base}`);
  console.table(rows);
  const judged = rows.filter(({ variant }) => PEERS[framework].includes(variant));
  const goal = GOALS[framework];
  tellCheapest("cheapest of all", judged, goal);
  // One that starts every span anew makes no trace of a run.
  tellCheapest(
    "cheapest that makes one trace of a run, with all payload",
    judged.filter((row) => row["traces/run"] === 1 && row["payload missing"] === "none"),
    goal,
  );
  return { framework, workload, rows };
}

/** What a tool's span is called by one who does not know the tool's name. */
const TOOL = /[^,]*tool[^,]*/i;

function tellCheapest(what, rows, goal) {
  if (rows.length === 0) return;
  const { variant, "ours / it": ratio } = rows.reduce((most, row) =>
    Number(row["ours / it"]) > Number(most["ours / it"]) ? row : most,
  );
  const reached = Number(ratio) <= goal ? "reached" : "not reached";
  console.log(`${what}: ${variant}, ours / it ${ratio} (goal <= ${goal.toFixed(2)}: ${reached})`);
}

const round1 = (value) => Math.round(value * 10) / 10;

const from = Date.now();
const only = process.argv.slice(2).filter((name) => !name.startsWith("--"));
const results = [];
for (const framework of Object.keys(PEERS)) {
  for (const workload of WORKLOADS[framework]) {
    if (only.length > 0 && !only.includes(framework) && !only.includes(workload)) continue;
    results.push(await compare(framework, workload));
  }
}
const took = `${Math.round((Date.now() - from) / 6000) / 10} min`;
console.log(`took ${took}`);
if (process.argv.includes("--write")) {
  const command = ["node bench/peers.mjs", ...process.argv.slice(2)].join(" ");
  const version = newer && (await run(newer, ["--version"])).stdout.trim().slice(1);
  const others = newer && ` (AI SDK and Mastra: ${version})`;
  const machine = `Node ${process.versions.node}${others ?? ""} on ${availableParallelism()} cores`;
  writePage(results, `\`${command}\`, ${ROUNDS} processes each, ${machine}, in ${took}.\n`);
}
