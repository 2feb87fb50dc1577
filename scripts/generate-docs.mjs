// Writes docs/attributes.md from the tables in src/events/semconv/semconv-*.ts, docs/metrics.md from those in
// src/bridge/metrics/metric-names.ts and src/service/http/ingest-metrics.ts, the table of docs/alerts.md and its
// runbooks (docs/alerts-*.md) from deploy/prometheus/rules, and docs/api and docs/cli.md from `dist`. `--print PAGE`
// shows a page instead, such as `cli`.
import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ALERT_PAGES, alertsPage } from "./generate-docs/alerts-page.mjs";
import { cliPage } from "./generate-docs/cli-page.mjs";
import { metricsPage, standingRows } from "./generate-docs/metrics-page.mjs";

const root = new URL("../", import.meta.url);

/** The module itself: the tables are not exported by the package. */
async function load(path) {
  const { withBundle } = await import("./bundle-typescript.mjs");
  return withBundle(new URL(path, root), (bundle) => import(pathToFileURL(bundle).href));
}

/** Where an attribute can stand, in the order of the page. */
const PLACES = [
  [
    "run",
    "Run spans",
    "`invoke_agent {agent}`, or `invoke_workflow {name}` for a workflow around agents, kind INTERNAL: one for each segment of a run, from `started` to its terminal event.",
  ],
  [
    "call",
    "Tool call spans",
    "`execute_tool {tool}`, kind INTERNAL: from `tool_start` to `tool_complete` or `tool_error`. A denied call has a span without duration.",
  ],
  [
    "model",
    "Model call spans",
    "`chat {model}`, or `embeddings {model}` for vectors, kind CLIENT: one call of the model with all its attempts. Only from runtimes that report model calls ([dialects](dialects.md)).",
  ],
  [
    "step",
    "Step spans",
    "`step {name}`, kind INTERNAL, or `retrieval {name}`, kind CLIENT: a node of a graph, a retriever, a named part of a program. Only from TypeScript agents.",
  ],
  [
    "marker",
    "Marker spans",
    "`MARKER_SPAN`, without duration: written once for a live run that is open for more than 30 s, so that it can be found before it ends. It has its run's `gen_ai.agent.name`.",
  ],
  [
    "event",
    "Span events",
    "`APPROVAL_EVENT`, on the run span, at the time of the approval, with the call's `gen_ai.tool.name` and `gen_ai.tool.call.id`. `EXCEPTION_EVENT`, on the span of the failed run, call or step, at its end. The other events come from runtimes other than entelix ([dialects](dialects.md)). Counted data is never only in a span event.",
  ],
  [
    "log",
    "Log records",
    "With the option `progress` ([open runs](open-runs.md#log-records)): the records of a run, with the trace and span ID of its span. The record of a model call has the attributes of its span instead, with messages and tools as structured values.",
  ],
  ["link", "Links", "Each link of a run span has the reason of the link."],
];

/** Few read these, and the page is long. */
const FOLDED = ["event", "log"];

function page(tables, { standingOf }) {
  const { APPROVAL_EVENT, ATTRIBUTES, EXCEPTION_EVENT, LOG_EVENTS, MARKER_SPAN, SPAN_EVENTS } =
    tables;
  const rows = Object.entries(ATTRIBUTES).map(([name, doc]) => ({
    ...doc,
    name,
    places: doc.on.split(", "),
  }));
  for (const { name, places } of rows) {
    const strange = places.find((place) => !PLACES.some(([known]) => known === place));
    if (strange !== undefined) throw new Error(`${name}: "${strange}" is no place of this page`);
  }
  const sections = PLACES.flatMap(([place, title, about]) => [
    "",
    `## ${title}`,
    "",
    about
      .replace("MARKER_SPAN", MARKER_SPAN)
      .replace("APPROVAL_EVENT", APPROVAL_EVENT)
      .replace("EXCEPTION_EVENT", EXCEPTION_EVENT),
    "",
    ...(FOLDED.includes(place) ? ["<details>", "<summary>Its attributes</summary>", ""] : []),
    "| attribute | type | meaning |",
    "|---|---|---|",
    ...rows
      .filter(({ places }) => places.includes(place))
      .map(({ brief, content, name, type }) => {
        const mark = content ? " **Content.**" : "";
        return `| \`${name}\` | ${type} | ${brief}${mark} |`;
      }),
    ...(FOLDED.includes(place) ? ["", "</details>"] : []),
  ]);
  const events = Object.entries({
    [APPROVAL_EVENT]: "A tool call was approved.",
    [EXCEPTION_EVENT]: "A run, call or step of a TypeScript agent failed with this error.",
    ...SPAN_EVENTS,
  }).map(([name, brief]) => `| \`${name}\` | ${brief} |`);
  const records = Object.entries(LOG_EVENTS).map(([name, brief]) => `| \`${name}\` | ${brief} |`);
  return [
    ...HEAD,
    ...sections,
    ...EVENTS_HEAD,
    ...events,
    ...RECORDS_HEAD,
    ...records,
    ...STANDING_HEAD,
    ...standingRows([...Object.keys(ATTRIBUTES), ...Object.keys(LOG_EVENTS)], standingOf),
    ...TAIL,
    "",
  ].join("\n");
}

const HEAD = [
  "<!-- Generated from src/events/semconv/semconv-*.ts: change those files, then npm run docs. -->",
  "",
  "# Attributes",
  "",
  "This page lists every attribute that this package sets. `gen_ai.*` and `error.type` have the names of the",
  "OpenTelemetry GenAI conventions (status: development), as `src/bridge/standing.ts` says. `entelix.*` has",
  "entelix's name if entelix has one. Spans, metrics and log records have the instrumentation scope `entelix-otel`,",
  "with the version of this package and the schema URL of the conventions.",
  "",
  '- An attribute without a known value is left out. An empty value never means "none", except for the tool-use ID,',
  "  which may be empty.",
  "- Rows marked **Content** contain users' data. They are set only with content capture, after the redaction hook, cut",
  "  to 4,096 bytes ([privacy](privacy.md)).",
  "- The status is ERROR for a failed run, call or step, with the operator's text as description; else Unset.",
  "  `error.type` is set if the status is ERROR, and only then. Its values are on [failure kinds](failure-kinds.md).",
  "- An attribute hook (`attributes`) adds your own attributes to run, tool call and model call spans, at most 32 a",
  "  span. It cannot set the names of this page.",
];

const EVENTS_HEAD = ["", "## Names of span events", "", "| event | meaning |", "|---|---|"];

const RECORDS_HEAD = ["", "## Names of log records", "", "| record | meaning |", "|---|---|"];

const STANDING_HEAD = [
  "",
  "## Names of the conventions",
  "",
  "Names that have an earlier or a proposed one, and the change that made them. The newest merged names are emitted.",
  "`OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup` adds the earlier ones. Nothing emits the proposed ones.",
  "[Metrics](metrics.md#names-of-the-conventions) has the same table.",
  "",
  "| name | change | before | proposed |",
  "|---|---|---|---|",
];

const TAIL = [
  "",
  "## The resource",
  "",
  "`setupTracing` sets `service.name`, and `service.instance.id` to a random UUID by default. A replay sets no instance",
  "and no other data of its own process. Its resource is `service.name` and `OTEL_RESOURCE_ATTRIBUTES`, so that a",
  "replayed span is identical.",
];

const PAGES = {
  attributes: async () =>
    page(await load("src/events/semconv/semconv.ts"), await load("src/bridge/standing.ts")),
  metrics: async () =>
    metricsPage(
      await load("src/bridge/metrics/metric-names.ts"),
      await load("src/bridge/metrics/metric-notes.ts"),
      await load("src/bridge/standing.ts"),
      await load("src/service/http/ingest-metrics.ts"),
    ),
  ...Object.fromEntries(ALERT_PAGES.map((name) => [name, async () => alertsPage(name)])),
  cli: async () => cliPage(),
};

const print = process.argv.indexOf("--print");
if (print >= 0) {
  const name = process.argv[print + 1] ?? "attributes";
  if (!Object.hasOwn(PAGES, name)) throw new Error(`--print: no page "${name}"`);
  process.stdout.write(await PAGES[name]());
} else {
  for (const [name, make] of Object.entries(PAGES)) {
    writeFileSync(new URL(`docs/${name}.md`, root), await make());
  }
  // The compiler is slow to load, and no other page needs it.
  const { apiPages } = await import("./generate-docs/api-pages.mjs");
  mkdirSync(new URL("docs/api", root), { recursive: true });
  for (const [name, text] of apiPages()) writeFileSync(new URL(`docs/api/${name}.md`, root), text);
}
