// node bench/change.mjs BASE [--short]: what our adapters cost a run and a span, beside those of the checkout in BASE,
// with and without content, and without steps. Build both first.
//
// One variant a process; the processes take turns, and each round gives one ratio. A figure is the median of the
// rounds. Of a framework, its own work is measured in the same process and taken off. Beside each table stands a
// control.
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { makeProject } from "./peers/project.mjs";
import { format, median } from "./processes.mjs";

const run = promisify(execFile);
const short = process.argv.includes("--short");
const ROUNDS = short ? 3 : 7;
const [base] = process.argv.slice(2).filter((name) => !name.startsWith("--"));
if (base === undefined) throw new TypeError("expected the folder of another checkout");

/** Workload to the slices of a process, the runs of a slice, and the slices that come before. */
const WORKLOADS = {
  langchain: { callbacks: [40, 100, 40], graph: [25, 10, 25] },
  "openai-agents": { callbacks: [40, 100, 40] },
};
/** What is measured, and beside what. */
const PAIRS = [
  ["ours", "before"],
  ["ours without content", "before without content"],
  ["ours without steps", "before"],
  ["ours", "ours"],
];

const folder = makeProject({ "entelix-otel-before": resolve(base) });

async function child(...args) {
  const options = { cwd: folder, env: { PATH: process.env.PATH } };
  const { stdout } = await run(process.execPath, ["child.mjs", ...args.map(String)], options);
  return JSON.parse(stdout);
}

async function compare(framework, workload, sizes, [mine, theirs]) {
  const times = { mine: [], theirs: [] };
  const take = async (side, variant) => {
    const { time } = await child("time", framework, workload, variant, ...sizes);
    times[side].push(time);
  };
  for (let round = 0; round < ROUNDS; round++) {
    const turn = [() => take("mine", mine), () => take("theirs", theirs)];
    for (const each of round % 2 === 0 ? turn : turn.reverse()) await each();
  }
  const spansOf = async (variant) =>
    (await child("spans", framework, workload, variant, 1, 10)).spans;
  const [spans, before] = [await spansOf(mine), await spansOf(theirs)];
  const each = times.mine.map((time, round) => time / times.theirs[round]);
  return {
    variant: mine,
    beside: theirs === mine ? "itself (control)" : theirs,
    "us a run": median(times.mine).toFixed(1),
    spans: `${spans} : ${before}`,
    "a run": format(median(each)),
    "a span": format((median(each) * before) / spans),
    spread: `${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)}`,
  };
}

for (const [framework, workloads] of Object.entries(WORKLOADS)) {
  for (const [workload, sizes] of Object.entries(workloads)) {
    const rows = [];
    for (const pair of PAIRS) {
      if (framework === "openai-agents" && pair[0].endsWith("steps")) continue;
      rows.push(await compare(framework, workload, sizes, pair));
    }
    console.log(`\n${framework}, ${workload}: ${ROUNDS} processes each`);
    console.table(rows);
  }
}
