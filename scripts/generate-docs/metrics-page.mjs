// The page docs/metrics.md, made from the tables in src/bridge/metrics, the standing of their names, and the metrics of
// `serve`.

/** How the kinds of the table are called in OpenTelemetry. */
const KINDS = {
  histogram: "histogram",
  counter: "counter",
  updowncounter: "up-down counter",
  gauge: "gauge",
};

export function metricsPage(
  { METRICS, prometheusNames, prometheusLabel },
  { METRIC_ATTRIBUTES, METRIC_NOTES },
  { standingOf },
  { INGEST_METRICS },
) {
  const sections = SECTIONS.flatMap(([title, about, belongs]) => [
    "",
    `## ${title}`,
    "",
    ...about,
    "",
    "| metric | kind | unit | attributes | in Prometheus | meaning |",
    "|---|---|---|---|---|---|",
    ...Object.entries(METRICS)
      .filter(([name]) => belongs(name))
      .map(([name, metric]) => {
        const attributes = metric.attributes.map((each) => `\`${each}\``).join(", ") || "none";
        const shown = prometheusNames(name)
          .map((each) => `\`${each}\``)
          .join(", ");
        const meaning = [metric.brief, METRIC_NOTES[name]].filter(Boolean).join(" ");
        return `| \`${name}\` | ${KINDS[metric.kind]} | \`${metric.unit}\` | ${attributes} | ${shown} | ${meaning} |`;
      }),
  ]);
  const buckets = Object.entries(METRICS)
    .filter(([, { buckets }]) => buckets !== undefined)
    .map(([name, { buckets }]) => `| \`${name}\` | ${buckets.join(", ")} |`);
  const labels = Object.entries(METRIC_ATTRIBUTES).map(
    ([name, brief]) => `| \`${name}\` | \`${prometheusLabel(name)}\` | ${brief} |`,
  );
  return [
    ...HEAD,
    ...sections,
    "",
    "## Buckets",
    "",
    "| metric | upper bounds |",
    "|---|---|",
    ...buckets,
    "",
    "## Attributes",
    "",
    "| attribute | label in Prometheus | values |",
    "|---|---|---|",
    ...labels,
    "",
    "## Names of the conventions",
    "",
    "Names that have an earlier or a proposed one, and the change that made them.",
    "`OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup` adds the earlier names. Nothing emits the proposed ones.",
    "",
    "| metric | change | before | proposed |",
    "|---|---|---|---|",
    ...standingRows(Object.keys(METRICS), standingOf),
    ...TAIL,
    ...SERVICE,
    ...Object.entries(INGEST_METRICS).map(([name, { about, kind, labels }]) => {
      const shown = labels.map((each) => `\`${each}\``).join(", ");
      return `| \`${name}\` | ${kind} | ${shown} | ${about} |`;
    }),
    "",
  ].join("\n");
}

/** The names of a table whose standing has more to say than where it is defined. */
export function standingRows(names, standingOf) {
  return names.flatMap((name) => {
    const { before = [], change, proposed } = standingOf(name) ?? {};
    if (change === undefined) return [];
    const earlier = before.map((each) => `\`${each}\``).join(", ") || "new";
    return [`| \`${name}\` | ${change} | ${earlier} | ${proposed ?? ""} |`];
  });
}

const isOfBridge = (name) =>
  name.startsWith("entelix.bridge.") || name.startsWith("entelix.audit.");

const SECTIONS = [
  [
    "Runs and tools",
    [
      "Counted from events, each once. Sampling does not change these metrics, and a dropped repeat does not count.",
    ],
    (name) => !isOfBridge(name),
  ],
  [
    "The bridge itself",
    [
      "The figures of `diagnostics()`, summed over the bridges of one meter provider. They start at 0 at the first",
      "collection.",
    ],
    isOfBridge,
  ],
];

const HEAD = [
  "<!-- Generated from metric-names.ts, convention-metrics.ts and metric-notes.ts in src/bridge/metrics and from ingest-metrics.ts in src/service/http, then npm run docs. -->",
  "",
  "# Metrics",
  "",
  "This page lists every metric that this package records through OpenTelemetry's API, in the scope `entelix-otel`.",
  "Metrics are on if there is a meter provider: the option `meterProvider`, or the global one. The bridge looks for the",
  "global provider when it is made, and again at its first event. Without a provider, metrics cost nothing.",
  "`metrics: false` turns them off.",
  "",
  "`setupTelemetry` of `entelix-otel/telemetry` sets up a provider:",
  "",
  "```ts",
  'import { setupTelemetry } from "entelix-otel/telemetry";',
  "",
  'const telemetry = setupTelemetry({ serviceName: "support-agent" });',
  "const bridge = telemetry.createBridge();",
  "try {",
  "  // … the agent",
  "} finally {",
  "  await telemetry.shutdown();",
  "}",
  "```",
  "",
  "It needs `@opentelemetry/sdk-metrics` in addition to the packages of `entelix-otel/setup`. It also does everything that",
  "`setupTracing` does.",
  "",
  "- Metrics go by OTLP/HTTP to the option `endpoint`, else to `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, else to",
  "  `OTEL_EXPORTER_OTLP_ENDPOINT`. Variables for traces do not apply.",
  "- They are sent every 15 s (`metricIntervalMs`, else `OTEL_METRIC_EXPORT_INTERVAL`), and once at the shutdown, after",
  "  the last spans.",
  "- `OTEL_METRICS_EXPORTER` (`otlp`, `console`, `none`), `OTEL_METRIC_EXPORT_TIMEOUT` and",
  "  `OTEL_EXPORTER_OTLP_METRICS_*` are read.",
  "- The option `metricReaders` adds your own readers, for example for Prometheus to scrape.",
  "- A replay records no metrics, so it never raises an alert.",
  "",
  "The names in Prometheus below are those of the collector's exporter, and of the shipped rules and dashboards. The",
  "SDK's own `@opentelemetry/exporter-prometheus` leaves units out: it exports `entelix_approvals_oldest`, which no",
  "rule reads. [VictoriaMetrics](with-victoriametrics.md) takes metrics without a collector.",
];

const TAIL = [
  "",
  "## What bounds the labels",
  "",
  "A label is never an ID or free text. The first 50 tenants, 50 agents, 100 tools and 50 models have their names; all",
  "others are `_other`. The option `metrics` sets other numbers, or lists the names to show:",
  "",
  "```ts",
  'import { Bridge } from "entelix-otel";',
  "",
  'const bridge = new Bridge({ metrics: { tenants: ["acme", "globex"], tools: 200 } });',
  "```",
  "",
  "The SDK keeps 2,000 sets of attributes for each metric. It adds all further ones to one series without attributes,",
  "in which alerts see nothing. So no metric here has more than 1,900 sets. When a metric is nearly full, new sets lose",
  "the agent first, then the tenant, then the tool. Those of model calls lose the answering model first, then the",
  "server, the model and the provider. Outcome, failure kind and tool error kind are never lost. `entelix.bridge.label_overflow` counts every measurement with a",
  "replaced label.",
  "",
  "## What starts at 0",
  "",
  "At the first root run of a tenant and agent, its series of `entelix.runs` start at 0, for each outcome except",
  "`refused` and for each failure kind. Its tokens, cost, approvals and the `tenant_conflicts` of the tenant also start",
  "at 0. At the first nested run of an agent, its tokens and cost start at 0. So the first failure is an increase, if",
  "its run lasts longer than one interval. A run that starts and fails within one interval makes a new series: the",
  "shipped rules and dashboards count such a series completely.",
  "",
  "## What to know before you build on them",
  "",
  "- A failure of three nested runs is three failed runs, but only one with `entelix.root` true. Count that one. A",
  "  sub-agent's run whose `started` was lost counts as a root too, unless its events name another `root_run_id`.",
  "- Tokens and cost count once for each tree of runs. If a model call reports its usage, the complete tree is counted",
  "  from its calls, as they end. Otherwise the usage of the root counts when it ends. The first report decides,",
  "  separately for tokens and for cost. So `run.addCost` counts only in trees whose calls have no",
  "  [price](runtime.md#cost). A tree in another process is a separate tree.",
  "- A run that was abandoned and later ended has ended twice, with both outcomes.",
  "- Sums are per process (`service.instance.id`): sum over `instance`.",
  "- If an approval is given in another process, it is still pending in the first process, until that process ends or",
  "  seven days have passed (`forgotten_pending` among the adjustments).",
  "- `entelix.runs` counts all ended runs. `gen_ai.invoke_agent.duration` includes only runs whose start and end were",
  "  both reported, so no abandoned runs. Tool durations include only calls that an event has ended, so no denied and",
  "  unfinished calls.",
  "- The reasons of `entelix.bridge.adjustments` are those of [limits](limits.md), and `forgotten_pending`.",
  "- A consumer that reads events again after a crash also counts them again. Spans and audit rows are not duplicated.",
];

const SERVICE = [
  "",
  "## The service `serve`",
  "",
  "`/metrics` of [`serve`](serve.md#metrics) has the text format of Prometheus. [`consume`](consume.md#figures) lists its",
  "own. The label `tenant` is the tenant of the token: the first 50, then `_other`, and `_any` for senders without a",
  "tenant. For `entelix_ingest_processor_tenant_conflicts_total` it is the tenant of the event.",
  "",
  "| metric | kind | labels | meaning |",
  "|---|---|---|---|",
];
