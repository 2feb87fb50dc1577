// The page docs/metrics.md, made from the module src/bridge/metrics/metric-names.ts.

/** How the kinds of the table are called in OpenTelemetry. */
const KINDS = {
  histogram: "histogram",
  counter: "counter",
  updowncounter: "up-down counter",
  gauge: "gauge",
};

export function metricsPage({ METRICS, METRIC_ATTRIBUTES, prometheusNames, prometheusLabel }) {
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
        return `| \`${name}\` | ${KINDS[metric.kind]} | \`${metric.unit}\` | ${attributes} | ${shown} | ${metric.brief} |`;
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
    ...TAIL,
    "",
  ].join("\n");
}

const isOfBridge = (name) =>
  name.startsWith("entelix.bridge.") || name.startsWith("entelix.audit.");

const SECTIONS = [
  [
    "Runs and tools",
    [
      "Counted from the events, each once: sampling changes nothing here, and a repeat that is dropped counts no",
      "more than it makes a span.",
    ],
    (name) => !isOfBridge(name),
  ],
  [
    "The bridge itself",
    [
      "The figures of `diagnostics()`, summed over the bridges on one meter provider. They start at 0 with the",
      "first collection.",
    ],
    isOfBridge,
  ],
];

const HEAD = [
  "<!-- Generated from src/bridge/metrics/metric-names.ts: change that file, then npm run docs. -->",
  "",
  "# Metrics",
  "",
  "Every metric that this package records, through OpenTelemetry's API, in the scope `entelix-otel`. They are on",
  "as soon as there is a meter provider: the option `meterProvider`, or the process's own, which is looked for when",
  "the bridge is made and once more at its first event. Without one they cost nothing; `metrics: false` turns them",
  "off. `setupTelemetry` of `entelix-otel/telemetry` wires one:",
  "",
  "```ts",
  'import { setupTelemetry } from "entelix-otel/telemetry";',
  "",
  'const telemetry = setupTelemetry({ serviceName: "support-agent" });',
  "const bridge = telemetry.createBridge();",
  "// … at the end of the process",
  "await telemetry.shutdown();",
  "```",
  "",
  "It needs `@opentelemetry/sdk-metrics` and `@opentelemetry/exporter-metrics-otlp-http` beside the packages that",
  "`entelix-otel/setup` needs, and does what `setupTracing` does beside it. Metrics go by OTLP/HTTP to the `endpoint`",
  "of the spans (else `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, else `OTEL_EXPORTER_OTLP_ENDPOINT`: what names the traces'",
  "alone is not theirs) every 15 s (`metricIntervalMs`, else `OTEL_METRIC_EXPORT_INTERVAL`), and once more at the shutdown,",
  "after the last spans. It honours `OTEL_METRICS_EXPORTER` (`otlp`, `console`, `none`), `OTEL_METRIC_EXPORT_TIMEOUT`",
  "and `OTEL_EXPORTER_OTLP_METRICS_*`. Readers of your own, for Prometheus to scrape, say, are the option `metricReaders`.",
  "A replay records no metrics: looking at last week must not page anyone.",
  "",
  "The names in Prometheus below are those of the collector's exporter, and of the shipped rules and dashboards. The",
  "SDK's own `@opentelemetry/exporter-prometheus` leaves units out: `entelix_approvals_oldest`, say, which no rule asks",
  "for.",
];

const TAIL = [
  "",
  "## What bounds the labels",
  "",
  "No id and no free text is ever a label. Of tenants and agents the first 50 are shown by name, of tools the first",
  "100, of models the first 50; the rest is `_other`. The option `metrics` sets other numbers, or lists of the names",
  "that are to be shown:",
  "",
  "```ts",
  'import { Bridge } from "entelix-otel";',
  "",
  'const bridge = new Bridge({ metrics: { tenants: ["acme", "globex"], tools: 200 } });',
  "```",
  "",
  "The SDK keeps 2,000 sets of attributes for each metric and throws all that is over into one without any",
  "attribute, which blinds every alert. So no metric here ever has more than 1,900: when one fills up, new sets give",
  "up the agent first, then the tenant, then the tool (those of model calls the model, then the provider). Outcome, failure kind and tool error kind always stay. Every",
  "measurement with a replaced label is counted in `entelix.bridge.label_overflow`.",
  "",
  "## What starts at 0",
  "",
  "With the first root run of a tenant and agent its series of `entelix.runs` are there at 0, for each outcome but",
  "`refused` and each failure kind, and so are its tokens, cost and approvals, and the `tenant_conflicts` of the",
  "tenant. With the first nested run of an agent its tokens and cost are there. The first failure is an increase, if its run lasts longer than one interval. A run that starts and fails",
  "within one is seen as a new series: the shipped rules and dashboards count such a series in full.",
  "",
  "## What to know before you build on them",
  "",
  "- A failure that rises through three nested runs is three failed runs, and one with `entelix.root` true. Count",
  "  that one. A sub-agent's run whose `started` was lost counts as a root too, unless its events name another",
  "  `root_run_id`.",
  "- Tokens and cost count once for each tree of runs. If a model call says what it used, all of the tree is counted from",
  "  its calls, as they end. Otherwise what the root says when it completes counts. The first decides, for tokens and for",
  "  cost each. So `run.addCost` counts only in trees whose calls have no [price](runtime.md#cost). A tree in another",
  "  process is a tree of its own.",
  "- A run that was abandoned and then ended after all has ended twice, with both outcomes.",
  "- Sums are per process (`service.instance.id`): sum over `instance`.",
  "- An approval that is given in another process stays pending in the one that asked, until that process ends or",
  "  seven days have passed (`forgotten_pending` among the adjustments).",
  "- `entelix.runs` counts runs, `gen_ai.invoke_agent.duration` those whose start and end were both told: not the",
  "  abandoned ones. Of tool calls those are measured that an event has ended: not denied and unfinished ones.",
  "- The reasons of `entelix.bridge.adjustments` are those of [limits](limits.md), and `forgotten_pending`.",
  "- A consumer that takes events again after a crash counts them again; spans and audit rows stay single.",
];
