// node --expose-gc bench/view-search.mjs [--write]: what a search over a full list costs the page of `view`: 100,000 runs with
// texts, tools and tags, one in ten of them resumed. The time of a search is that of everything it changes: matching
// rows, conversations, order, numbers and bars; without drawing. Median and highest of all searches, in ms of CPU. Memory is the
// heap with the list against the heap without it; `bytes` is its JSON.
import { register } from "node:module";
import { show } from "./page.mjs";
import { threadTime } from "./thread-time.mjs";

register("./path/strip-types.mjs", import.meta.url);
const model = (name) => import(`../src/view/model/${name}.ts`);
const { RunIndex } = await model("run-index");
const { filterRows } = await model("filter-rows");
const { listQuery } = await model("list-query");
const { newestFirst, sortRows } = await model("sort-rows");
const { groupRows } = await model("conversations");
const { numbersOf } = await model("list-numbers");
const { failureBars } = await model("failure-bars");

const ms = () => threadTime() / 1000;
const RUNS = 100_000;
const GOAL_MS = 200;
const TOOLS = ["look_up_order", "refund", "send_mail", "search_docs", "sql_query", "calculator"];
const WORDS =
  "where is my order the parcel was delivered twice please give money back for it and thanks".split(
    " ",
  );

/** `full`: every text of a run has its greatest length. */
function runOf(n, full) {
  const pick = (list, at) => list[(n * 7 + at * 13) % list.length];
  const text = (words) => Array.from({ length: words }, (_, at) => pick(WORDS, at)).join(" ");
  const long = full ? 200 : 60 + (n % 80);
  const id = (kind) => `${kind}-${(n % 20_000).toString(16).padStart(8, "0")}`;
  const isResumed = n % 10 === 9;
  return {
    key: `01a1fbfa-0000-7000-8000-${n.toString(16).padStart(12, "0")}`,
    run_id: `01a1fbfa-0000-7000-8000-${n.toString(16).padStart(12, "0")}`,
    tenant_id: `tenant-${n % 17}`,
    trace_id: n.toString(16).padStart(32, "0"),
    agent: pick(["support", "planner", "mailer"], 0),
    ...(isResumed
      ? {
          resumed_from: `01a1fbfa-0000-7000-8000-${(n - 1).toString(16).padStart(12, "0")}`,
          tenant_id: `tenant-${(n - 1) % 17}`,
        }
      : {}),
    start_ns: `${1_764_172_800_000 + n * 700}000000`,
    end_ns: `${1_764_172_800_000 + n * 700 + 400}000000`,
    outcome: n % 20 === 0 ? "failed" : n % 10 === 8 ? "interrupted" : "complete",
    ...(n % 20 === 0
      ? {
          failure_kind: "model_dispatch",
          failure_origin: "model",
          error: `503 overloaded ${text(6)}`.slice(0, long),
        }
      : {}),
    working_ms: 400 + (n % 313),
    input_tokens: 1200 + (n % 999),
    output_tokens: 300,
    cost_usd: "0.0042",
    spans: 7,
    rows: 6,
    child_runs: 0,
    question: text(40).slice(0, long),
    answer: text(41).slice(0, long),
    thread_id: id("thread"),
    user: id("user"),
    session: id("session"),
    model: "gpt-5-mini",
    tools: full
      ? Array.from({ length: 12 }, (_, at) => `${at}${pick(TOOLS, at)}`.padEnd(60, "x"))
      : [pick(TOOLS, 0), pick(TOOLS, 1)],
    tags: full ? Array.from({ length: 12 }, (_, at) => `${at}`.padEnd(60, "y")) : ["web"],
    tool_inputs: `{"order":${n},"text":"${text(20)}`.slice(0, full ? 300 : 100),
  };
}

function measured(full) {
  const memory = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = memory();
  const json = Array.from({ length: RUNS }, (_, n) => JSON.stringify(runOf(n, full)));
  const bytes = json.reduce((sum, text) => sum + text.length, 0);
  const index = new RunIndex();
  const started = ms();
  for (let from = 0; from < RUNS; from += 5000) {
    index.merge(json.slice(from, from + 5000).map((text) => JSON.parse(text)));
  }
  const mergedMs = ms() - started;
  json.length = 0;
  const heap = memory() - before;
  const changed = JSON.parse(JSON.stringify(runOf(RUNS - 1, full)));
  const change = timed(() => index.merge([changed]));
  const { rows } = index;
  let byTime = [];
  const order = timed(() => {
    byTime = newestFirst(rows);
  });
  const search = (address) => () => {
    const query = listQuery(new URLSearchParams(address));
    const matching = filterRows(byTime, query);
    const grouped = query.grouped ? groupRows(matching) : matching;
    sortRows(grouped, query.sort, query.descending);
    numbersOf(matching);
    failureBars(matching, 60);
    return matching.length;
  };
  const words = [
    "",
    "r",
    "re",
    "refund",
    "tenant-11 refund",
    "nothing like this",
    "thread-00000fff",
    "503 overloaded",
    "order 17 twice",
    "é",
  ];
  const times = words.flatMap((q) =>
    ["", "&group=conversation"].map((group) => timed(search(`q=${encodeURIComponent(q)}${group}`))),
  );
  times.sort((one, other) => one - other);
  return {
    runs: full ? "longest texts" : "usual texts",
    "JSON, MB": Math.round(bytes / 1e6),
    "heap, MB": Math.round(heap / 1e6),
    "merged, ms": Math.round(mergedMs),
    "one change, ms": Math.round(change),
    "order by time, ms": Math.round(order),
    "search, median ms": Math.round(times[times.length >> 1]),
    "search, highest ms": Math.round(times.at(-1)),
    goal: `<= ${GOAL_MS}`,
    reached: times.at(-1) <= GOAL_MS ? "yes" : "no",
  };
}

/** Median of five, after one to warm up. */
function timed(action) {
  action();
  const times = Array.from({ length: 5 }, () => {
    const from = ms();
    action();
    return ms() - from;
  });
  return times.sort((one, other) => one - other)[2];
}

show("view-search", [measured(false), measured(true)], "ms of CPU time, one process");
