// npm run build && node bench/agents.mjs [TABLE…] [--framework NAME] [--package DIR] [--rounds N] [--short] [--write]: what
// our adapters cost, beside the instrumentations that their users would choose instead. Each side is a process with its
// own exporter to a receiver on loopback, which counts spans and bytes. Lost spans are an error.
//
// TABLE: whole (a run of a warm process), turns (1 to 200), sizes (messages to 100 KB), cold (the first 300 runs of a
// process), open (runs at once). `--package` is the folder of another version of this package, which is measured in
// turn with this one.
//
// CPU time is that of the whole process. The framework's own work, measured with an idle handler, is subtracted.
import { FRAMEWORKS } from "./agents/frameworks.mjs";
import { startRounds } from "./agents/rounds.mjs";
import { coldRows, growthRows, openRows, wholeRows } from "./agents/tables.mjs";
import { show } from "./page.mjs";
import { BEFORE, MEDIANS, NAMES, ONLY, ROUNDS, short, write } from "./processes.mjs";

const before = BEFORE === undefined ? [] : ["before"];

/** Runs of a slice, slices to warm up and slices that count, of a run of three turns. */
const SLICES = {
  "ai-sdk": { runs: 25, warmUp: 32, slices: 21 },
  "openai-agents": { runs: 25, warmUp: 28, slices: 15 },
  langgraph: { runs: 5, warmUp: 24, slices: 15 },
  "claude-agent": { runs: 100, warmUp: 20, slices: 15 },
  mastra: { runs: 50, warmUp: 20, slices: 15 },
};
const RUN = { turns: 3, size: 500 };
const EDGES = short ? [1, 5] : [1, 20, 100, 300];
const OPEN = short ? [20] : [100, 1_000, 10_000];

/** The cases of a process, one after the other. @param most turns of the longest run. */
function turnsTo(most) {
  const cases = short
    ? [
        { turns: 1, runs: 2, warmUp: 1, slices: 1 },
        { turns: 10, runs: 1, warmUp: 0, slices: 1 },
      ]
    : [
        { turns: 1, runs: 20, warmUp: 20, slices: 11 },
        { turns: 10, runs: 5, warmUp: 8, slices: 9 },
        { turns: 50, runs: 2, warmUp: 3, slices: 5 },
        { turns: 200, runs: 1, warmUp: 1, slices: 3 },
      ];
  return cases.filter(({ turns }) => turns <= most).map((each) => ({ ...each, size: 1_000 }));
}

const SIZES = [100, 1_000, 10_000, 100_000].map((size) => ({
  turns: 3,
  size,
  ...(short ? { runs: 1, warmUp: 0, slices: 1 } : { runs: 10, warmUp: 12, slices: 9 }),
}));

const { end, rounds, versionOf } = await startRounds(BEFORE);

/** @param others sides of this package beside `ours`. */
function sidesOf(framework, others) {
  // Traceloop is in the first table only: its spans have no parents, and so are no trace of a run.
  const peers = Object.keys(FRAMEWORKS[framework].peers).filter((side) => side !== "traceloop");
  return short ? ["ours", peers[0]] : ["ours", ...peers, ...others, ...before];
}

const OTHERS = ["no content", "control"];

const TABLES = {
  whole: {
    of: Object.keys(FRAMEWORKS),
    async rows(framework) {
      const slices = short ? { runs: 2, warmUp: 1, slices: 1 } : SLICES[framework];
      const options = { measure: "warm", cases: [{ ...RUN, ...slices }] };
      const peers = Object.keys(FRAMEWORKS[framework].peers);
      const sides = ["ours", ...peers, ...(short ? [] : [...OTHERS, ...before])];
      return wholeRows(framework, await rounds(framework, sides, ROUNDS, options), versionOf);
    },
  },
  turns: {
    of: ["ai-sdk", "openai-agents", "langgraph"],
    async rows(framework) {
      // OpenInference would send 300 MB for a run of LangGraph with 200 turns.
      const cases = turnsTo(framework === "langgraph" ? 50 : 200);
      const sides = sidesOf(framework, [...OTHERS, "new messages"]);
      const made = await rounds(framework, sides, ROUNDS, { measure: "warm", cases });
      return growthRows(framework, made, cases, "turns");
    },
  },
  sizes: {
    of: ["ai-sdk", "openai-agents", "langgraph"],
    async rows(framework) {
      const sides = sidesOf(framework, OTHERS);
      const made = await rounds(framework, sides, ROUNDS, { measure: "warm", cases: SIZES });
      return growthRows(framework, made, SIZES, "size");
    },
  },
  cold: {
    of: Object.keys(FRAMEWORKS),
    async rows(framework) {
      const sides = ["idle", ...sidesOf(framework, ["control"])];
      const options = { measure: "cold", edges: EDGES, ...RUN };
      return coldRows(framework, await rounds(framework, sides, ROUNDS, options), EDGES, versionOf);
    },
  },
  open: {
    of: ["ai-sdk"],
    async rows(framework) {
      const sides = ["idle", ...sidesOf(framework, ["control"])];
      const options = { measure: "open", counts: OPEN, ...RUN };
      const made = await rounds(framework, sides, 1, options);
      return openRows(framework, made, OPEN, versionOf);
    },
  },
};

const strange = NAMES.find((name) => !Object.hasOwn(TABLES, name));
if (strange !== undefined) {
  throw new TypeError(`expected one of ${Object.keys(TABLES).join(", ")}; got ${strange}`);
}
if (write && (short || ONLY !== undefined || BEFORE !== undefined)) {
  throw new TypeError("--write: expected no --short, --framework and --package");
}
for (const name of NAMES.length > 0 ? NAMES : Object.keys(TABLES)) {
  const { of, rows } = TABLES[name];
  const all = [];
  for (const framework of of) {
    if (ONLY === undefined || ONLY === framework) {
      all.push(...(await rows(framework)));
    }
  }
  // Heap hardly differs from process to process.
  show(name, all, name === "open" ? "one process each" : MEDIANS);
}
end();
