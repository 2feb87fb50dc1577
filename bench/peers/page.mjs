// The tables of docs/benchmarks.md: a run of bench/peers.mjs replaces the rows that it measured.
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = new URL("../../docs/benchmarks.md", import.meta.url);

/** What the columns hold, in order: variants, of which a framework has one at most, and the title. */
const COLUMNS = [
  [["openinference"], "OpenInference"],
  [["langfuse"], "Langfuse"],
  [["langfuse-processor"], "Langfuse with its processor"],
  [["traceloop"], "Traceloop"],
  [["ai-sdk-otel", "otel-exporter"], "the framework's own"],
  [["otel-bridge"], "Mastra's bridge"],
  [["hand-written"], "hand-written"],
  [["ours (control)"], "ours again"],
];
const TITLES = {
  "langchain callbacks": "LangChain's callbacks, the whole agent",
  "langchain tools": "LangChain's callbacks, tools alone",
  "langchain chain": "LangChain itself, a chain",
  "langchain graph": "LangGraph itself, a graph",
  "openai-agents callbacks": "OpenAI Agents' callbacks, the whole agent",
  "openai-agents agent": "OpenAI Agents itself",
  "ai-sdk agent": "AI SDK itself",
  "claude-agent query": "Claude Agent SDK, a recorded query",
  "mastra events": "Mastra, a recorded run",
};

/**
 * Writes what was measured into the page.
 *
 * @param results of each workload its `framework`, `workload` and `rows`, as the command prints them.
 * @param how of the run, in words.
 */
export function writePage(results, how) {
  let page = readFileSync(PAGE, "utf8");
  page = replaced(page, "times", timesTable, results);
  page = replaced(page, "spans", spansTable, results);
  const { start, end } = between(page, "how");
  writeFileSync(PAGE, page.slice(0, start) + how + page.slice(end));
}

/** Where the part of the page with that name begins and ends. */
function between(page, name) {
  const [from, to] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const start = page.indexOf(from) + from.length;
  const end = page.indexOf(to);
  if (start < from.length || end < start)
    throw new Error(`docs/benchmarks.md: expected ${from}…${to}`);
  return { start, end };
}

/** Puts new rows in the place of those that begin alike; the others stay. */
function replaced(page, name, table, results) {
  const { start, end } = between(page, name);
  const { head, order, rows } = table(results);
  const known = new Map(
    page
      .slice(start, end)
      .split("\n")
      .slice(2)
      .filter((line) => line !== "")
      .map((line) => [line.split(" | ")[0], line]),
  );
  for (const line of rows) known.set(line.split(" | ")[0], line);
  const place = (first) => order.indexOf(first.slice(2));
  const sorted = [...known].sort(([a], [b]) => place(a) - place(b)).map(([, line]) => line);
  const rule = `|${"---|".repeat(head.length)}`;
  const lines = [`| ${head.join(" | ")} |`, rule, ...sorted];
  return `${page.slice(0, start)}${lines.join("\n")}\n${page.slice(end)}`;
}

function timesTable(results) {
  const rows = results.map(({ framework, workload, rows }) => {
    const of = (names) => rows.find(({ variant }) => names.includes(variant));
    const ratios = COLUMNS.map(([names]) => {
      const ratio = of(names)?.["ours / it"];
      return ratio === undefined ? "" : Number(ratio).toFixed(2);
    });
    const title = TITLES[`${framework} ${workload}`];
    return line([title, Math.round(of(["ours"])["µs/run"]), ...ratios]);
  });
  const head = ["workload", "ours, µs a run", ...COLUMNS.map(([, title]) => title)];
  return { head, order: Object.values(TITLES), rows };
}

const FRAMEWORKS = {
  langchain: "LangChain",
  "openai-agents": "OpenAI Agents",
  "ai-sdk": "AI SDK",
  "claude-agent": "Claude Agent SDK",
  mastra: "Mastra",
};
/** The workload of each that is the whole agent. */
const WHOLE = {
  langchain: "callbacks",
  "openai-agents": "callbacks",
  "ai-sdk": "agent",
  "claude-agent": "query",
  mastra: "events",
};

/** Of the whole agent: what each variant makes of a run. */
function spansTable(results) {
  const whole = results.filter(({ framework, workload }) => WHOLE[framework] === workload);
  const rows = whole.flatMap(({ framework, rows }) =>
    rows
      .filter(({ variant }) => variant !== "ours (control)")
      .map((row) =>
        line([
          `${FRAMEWORKS[framework]}: ${row.variant}`,
          row["spans/run"],
          row["traces/run"],
          row["without parent"],
          row["a tool's span"],
          row["payload missing"],
          row["bytes/run"],
        ]),
      ),
  );
  const head = [
    "of a run of the whole agent",
    "spans",
    "traces",
    "spans without parent",
    "a tool's span",
    "payload missing",
    "bytes of text",
  ];
  const variants = ["ours", ...COLUMNS.flatMap(([names]) => names)];
  const order = Object.values(FRAMEWORKS).flatMap((name) =>
    variants.map((variant) => `${name}: ${variant}`),
  );
  return { head, order, rows };
}

const line = (cells) => `| ${cells.join(" | ")} |`;
