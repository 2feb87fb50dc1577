import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { WAIT_KINDS } from "../../src/bridge/door.ts";
import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../src/entries/events.ts";
import { ATTRIBUTES, FAILURE_ORIGINS } from "../../src/events/door.ts";
import { Bridge } from "../../src/index.ts";
import {
  CAPPED_LABELS,
  PROMETHEUS_LABELS,
  PROMETHEUS_METRICS,
} from "../bridge/support/metric-table.ts";
import { ROOT, readPage, section, tableRows } from "../docs/pages.ts";
import { scaleDurations } from "../e2e/support/scale-durations.ts";
import { SERVICE_METRICS } from "../service/support/service-metrics.ts";
import {
  ALERTMANAGER,
  ALERTS,
  EXPECTATIONS,
  PROMETHEUS,
  RECORDS,
  yamlFiles,
} from "./alert-files.ts";
import { queryNames, type Selector } from "./alert-names.ts";
import { SPAN_LABELS } from "./dashboard-metrics.ts";

const page = readPage("docs/alerts.md");
const RUNBOOKS = ["alerts-failures", "alerts-agents", "alerts-services"];
const names = new Set(ALERTS.map(({ alert }) => alert));
const queries = [...ALERTS, ...RECORDS].map(({ expr }) => queryNames(expr));
const selectors = queries.flatMap((query) => query.selectors);

/** What the collector counts of itself; the end-to-end run sees whether it is there. */
const COLLECTOR_METRICS = [
  "otelcol_exporter_send_failed_spans",
  "otelcol_exporter_send_failed_metric_points",
  "otelcol_exporter_enqueue_failed_spans",
  "otelcol_exporter_enqueue_failed_metric_points",
  "otelcol_exporter_sent_spans",
  "otelcol_exporter_queue_size",
  "otelcol_exporter_queue_capacity",
  "otelcol_receiver_refused_spans",
  "otelcol_receiver_refused_metric_points",
  "otelcol_processor_tail_sampling_sampling_trace_dropped_too_early",
];
/** On every series: of the target or the resource, and of an SDK that ran out of label sets. */
const ANYWHERE = ["job", "instance", "otel_metric_overflow"];
const ATTRIBUTES_BY_NAME = new Map(
  Object.entries(ATTRIBUTES).map(([name, { on }]): [string, string] => [name, on]),
);
const { adjustments, ignored } = new Bridge().diagnostics();
const VALUES: Readonly<Record<string, readonly string[]>> = {
  entelix_failure_kind: FAILURE_KIND_IDS,
  entelix_tool_error_kind: TOOL_ERROR_KINDS,
  entelix_failure_origin: FAILURE_ORIGINS,
  entelix_run_waits_for: WAIT_KINDS,
  entelix_run_outcome: ["complete", "failed", "interrupted", "abandoned", "refused"],
  entelix_root: ["true", "false"],
  entelix_reason: [...Object.keys(adjustments), ...Object.keys(ignored)],
  gen_ai_operation_name: ["invoke_agent", "invoke_workflow", "execute_tool"],
};

/** In this order: the last two make docs/alerts.md and the pages of runbooks. */
const ANNOTATIONS = ["summary", "description", "runbook_url", "jaeger", "when", "runbook"];

describe("every alert", () => {
  it("is seen, and so are its tests", () => {
    expect(names.size).toBe(ALERTS.length);
    expect(names.size).toBeGreaterThan(30);
    expect(EXPECTATIONS.length).toBeGreaterThan(100);
  });

  it.each(ALERTS)(
    "$alert is told by severity, in words, with a runbook and a search",
    ({ alert, labels, annotations }) => {
      expect(["page", "ticket", "info"]).toContain(labels.severity);
      expect(Object.keys(annotations)).toEqual(ANNOTATIONS);
      const [path = "", anchor] = annotations.runbook_url?.split("#") ?? [];
      expect(RUNBOOKS.map((name) => `docs/${name}.md`)).toContain(path);
      expect(anchor).toBe(alert.toLowerCase());
      // The runbook's heading, which npm run docs writes.
      expect(readPage(path)).toContain(`\n### ${alert}\n`);
      expect(annotations.jaeger).toMatch(/^http:\/\/127\.0\.0\.1:16686\/search/);
    },
  );

  it.each(ALERTS)(
    "$alert has a test in which it fires, and one in which it does not",
    ({ alert }) => {
      const expected = EXPECTATIONS.filter((one) => one.alert === alert);
      const firing = expected.filter(({ fires }) => fires);
      expect(firing).not.toEqual([]);
      expect(expected.filter(({ fires }) => !fires)).not.toEqual([]);
    },
  );

  it("reads no metric that the conventions renamed, so all processes raise the same alerts", () => {
    const rows = tableRows(section(readPage("docs/metrics.md"), "Names of the conventions"));
    const renamed = rows
      .filter(([, , before]) => before !== "new")
      .flatMap(([now = "", , before = ""]) => [now, ...before.split(", ")])
      .map((name) => name.replaceAll(".", "_"));
    expect(renamed).toContain("gen_ai_client_inference_duration");
    expect(renamed).toContain("gen_ai_client_operation_duration");
    const read = selectors.filter(({ metric }) => renamed.some((name) => metric.startsWith(name)));
    expect(read).toEqual([]);
  });

  it("that is tested is there", () => {
    expect(EXPECTATIONS.filter(({ alert }) => !names.has(alert))).toEqual([]);
  });

  it.each(ALERTS)("$alert has its row and its runbook in the page", (rule) => {
    const { alert, annotations, labels } = rule;
    const { runbook = "", runbook_url = "", when = "" } = annotations;
    expect(when).toMatch(/^[^{}|]{10,200}$/);
    expect(runbook.trim().length).toBeGreaterThan(100);
    // Templates would stay in the page as they are.
    expect(runbook).not.toContain("{{");
    // Links to runbooks of another page name that page.
    const shown = section(readPage(runbook_url.split("#")[0] ?? ""), alert);
    expect(shown.replaceAll(/\(alerts-\w+\.md(?=#)/g, "(")).toContain(runbook.trim());
    expect(tableRows(section(page, "All alerts"))).toContainEqual([
      `[${alert}](${runbook_url.replace("docs/", "")})`,
      labels.severity,
      when.replaceAll("`", ""),
    ]);
  });
});

describe("docs/alerts.md", () => {
  it.each(["alerts", ...RUNBOOKS])(
    "%s is what the rules' annotations give: npm run docs",
    (name) => {
      const script = join(ROOT, "scripts/generate-docs.mjs");
      const args = [script, "--print", name];
      const printed = execFileSync(process.execPath, args, { encoding: "utf8" });
      expect(printed).toBe(readPage(`docs/${name}.md`));
    },
  );

  it("has the alerts of the rules and no others", () => {
    const written = tableRows(section(page, "All alerts")).map(([link]) => link);
    expect(new Set(written)).toEqual(
      new Set(
        ALERTS.map(
          ({ alert, annotations: { runbook_url = "" } }) =>
            `[${alert}](${runbook_url.replace("docs/", "")})`,
        ),
      ),
    );
  });
});

/** The labels that narrow a search, and the attributes of which one holds the label's value. */
const SEARCHED: Readonly<Record<string, readonly string[]>> = {
  entelix_failure_kind: ["entelix.failure.kind"],
  entelix_failure_origin: ["entelix.failure.origin"],
  entelix_failure_fingerprint: ["entelix.failure.fingerprint"],
  entelix_tenant_id: ["entelix.tenant_id"],
  gen_ai_tool_name: ["entelix.failure.tool_name", "gen_ai.tool.name"],
};
/** Many at once, or none: no span says these. */
const NO_VALUE = ["_other", "_OTHER", "unknown", "none"];
/** Origins that follow from the kind. Senders need not say them, so a search for them would miss runs. */
const USUAL = /^(?:model_dispatch model|tool_error_terminal tool|.* run)$/;

describe("the search of an alert", () => {
  const firing = EXPECTATIONS.flatMap(({ alert, firing }) =>
    firing.map((one, at) => ({ alert, at, ...one })),
  );

  it.each(firing)(
    "of $alert is narrowed to its labels ($labels)",
    ({ annotations: { jaeger = "" }, labels }) => {
      const { searchParams } = new URL(jaeger);
      if (searchParams.has("service")) {
        expect(searchParams.get("service")).toBe(labels.job?.replace(/^.*\//, ""));
      }
      const tags: unknown = JSON.parse(searchParams.get("tags") ?? "{}");
      const given = new Map(Object.entries(Object(tags)));
      const places = [...given.keys()].map((name) => ATTRIBUTES_BY_NAME.get(name)?.split(", "));
      const spans = ["run", "call", "model"];
      expect(spans.some((span) => places.every((of) => of?.includes(span)))).toBe(true);
      for (const [label, attributes] of Object.entries(SEARCHED)) {
        const value = labels[label];
        if (value === undefined || NO_VALUE.includes(value)) continue;
        const usual = USUAL.test(`${labels.entelix_failure_kind} ${value}`);
        if (label === "entelix_failure_origin" && usual) continue;
        expect(attributes.map((name) => given.get(name))).toContain(value);
      }
    },
  );

  it("is tested for each alert, and for each of those labels", () => {
    expect(new Set(firing.map(({ alert }) => alert))).toEqual(names);
    const labels = new Set(firing.flatMap((one) => Object.keys(one.labels)));
    expect(Object.keys(SEARCHED).filter((label) => !labels.has(label))).toEqual([]);
  });
});

describe("the runbook of a failure", () => {
  const failures = ALERTS.filter(
    ({ annotations: { jaeger = "" }, expr }) =>
      jaeger.includes("entelix.failure.kind") || expr.includes('entelix_run_outcome="failed"'),
  );

  it("starts from the origin and the class of the fingerprint", () => {
    expect(failures.length).toBeGreaterThan(15);
    const others = failures
      .filter(
        ({ annotations: { runbook = "" } }) =>
          !/^\*\*Start\.\*\* .*origin.*`(?:model|tool|run)`.*fingerprint/is.test(
            runbook.split("\n\n")[0] ?? "",
          ),
      )
      .map(({ alert }) => alert);
    expect(others).toEqual([]);
  });
});

describe("the section on labels that overflow", () => {
  it("names each label that can", () => {
    const named = /`entelix_label`: ([^.(]+)/.exec(
      section(readPage("docs/alerts-services.md"), "EntelixLabelOverflow"),
    )?.[1];
    expect([...(named ?? "").matchAll(/`(\w+)`/g)].map(([, label]) => label)).toEqual(
      CAPPED_LABELS,
    );
  });
});

describe("failure kinds", () => {
  it("have an alert each, which names its kind", () => {
    const kinds = ALERTS.flatMap(({ expr, labels }) => [
      labels.entelix_failure_kind,
      /^entelix:failed_runs:increase5m\{entelix_failure_kind="(\w+)"\} > 0$/.exec(expr)?.[1],
      // Whatever is none of the others.
      expr.includes("entelix_failure_kind!~") ? "unclassified" : undefined,
    ]);
    expect(FAILURE_KIND_IDS.filter((kind) => !kinds.includes(kind))).toEqual([]);
  });

  it("and classes of terminal tool errors have one, but for validation", () => {
    const classes = ALERTS.map(
      ({ expr, labels }) =>
        labels.entelix_tool_error_kind ?? (expr.includes("permanent|validation") && "internal"),
    );
    expect(TOOL_ERROR_KINDS.filter((kind) => !classes.includes(kind))).toEqual(["validation"]);
  });
});

describe("the rules", () => {
  it("name no metric of the conventions, so that a renamed one silences no alert", () => {
    expect(selectors.filter(({ metric }) => /^(?:gen_ai|mcp)_/.test(metric))).toEqual([]);
  });

  it("name metrics that there are", () => {
    const known = new Set([
      ...PROMETHEUS_METRICS.keys(),
      ...SERVICE_METRICS.keys(),
      ...RECORDS.map(({ record }) => record),
      ...COLLECTOR_METRICS,
      "entelix_spans_calls_total",
      "target_info",
      "up",
    ]);
    const unknown = selectors.filter(({ metric, matchers }) => {
      const pattern = matchers.find((one) => one.label === "__name__" && one.operator === "=~");
      if (metric !== "") return !known.has(metric);
      return (
        pattern === undefined ||
        ![...known].some((name) => new RegExp(`^(?:${pattern.value})$`).test(name))
      );
    });
    expect(selectors.length).toBeGreaterThan(100);
    expect(unknown).toEqual([]);
  });

  it("ask a metric for labels that it has", () => {
    const strange = selectors.flatMap(({ metric, matchers }) => {
      const has = labelsOf(metric);
      if (has === undefined) return [];
      return matchers
        .filter(({ label }) => !has.includes(label))
        .map(({ label }) => `${metric}: ${label}`);
    });
    expect(strange).toEqual([]);
  });

  it("name values that there are", () => {
    const strange = selectors
      .flatMap(({ matchers }) => matchers)
      .flatMap(({ label, value }) =>
        value
          .split("|")
          // An empty one: or no such label at all.
          .filter((one) => one !== "" && VALUES[label]?.includes(one) === false)
          .map((one) => `${label}: ${one}`),
      );
    expect(strange).toEqual([]);
  });

  it("group by labels that there are", () => {
    const known = new Set([
      ...PROMETHEUS_LABELS,
      ...[...SERVICE_METRICS.values()].flat(),
      ...ANYWHERE,
      ...["objective", "source", "exporter", "receiver", "reason", "signal", "service_version"],
    ]);
    expect(
      queries.flatMap(({ grouping }) => grouping).filter((label) => !known.has(label)),
    ).toEqual([]);
  });

  it("count root runs alone, or say that they count every run for its own calls", () => {
    const runs = ["entelix_runs_total", "entelix_spans_calls_total"];
    const nested = selectors.filter(({ metric, matchers }) => {
      const given = matchers.map(({ label, operator, value }) => `${label}${operator}${value}`);
      return (
        runs.includes(metric) &&
        !given.includes("entelix_root=true") &&
        !given.includes("entelix_root=~true|false") &&
        !given.includes("otel_metric_overflow=true")
      );
    });
    expect(nested).toEqual([]);
  });

  it.each([
    "rules/failures.yml",
    "rules/bridge.yml",
    "rules/collector.yml",
    "rules/services.yml",
    "rules/fingerprints.yml",
    "rules/slo.yml",
    "prometheus.yml",
  ])("%s has durations that divide by 60", (file) => {
    const document = parseDocument(readFileSync(join(PROMETHEUS, file), "utf8"));
    scaleDurations(document, 60);
    expect(document.toString()).toMatch(/\b(?:5s|250ms)\b/);
  });
});

describe("the routes", () => {
  const text = readFileSync(ALERTMANAGER, "utf8");

  it("have durations that divide by 60", () => {
    const document = parseDocument(text);
    scaleDurations(document, 60);
    expect(document.toString()).toContain("group_wait: 250ms");
  });

  it("mute alerts that there are, by labels that there are", () => {
    const muted = [...text.matchAll(/alertname=~?"([\w|]+)"/g)].flatMap(([, found = ""]) =>
      found.split("|"),
    );
    expect(muted.length).toBeGreaterThan(5);
    expect(muted.filter((name) => !names.has(name))).toEqual([]);
    const grouping = new Set(queries.flatMap((query) => query.grouping).concat("alertname"));
    const equal = [...text.matchAll(/(?:equal|group_by): \[([^\]]+)\]/g)].flatMap(
      ([, found = ""]) => found.split(", "),
    );
    expect(equal.filter((label) => !grouping.has(label))).toEqual([]);
  });
});

describe("prometheus.yml", () => {
  it("reads the rules, the collector and the collector's own metrics", () => {
    const text = readFileSync(join(PROMETHEUS, "prometheus.yml"), "utf8");
    expect(text.match(/- rules\/\*\.yml/g)).toHaveLength(1);
    expect([...text.matchAll(/targets: \["([^"]+)"\]/g)].map(([, target]) => target)).toEqual([
      "alertmanager:9093",
      "collector:8889",
      "collector:8888",
    ]);
    expect([...yamlFiles(join(PROMETHEUS, "rules")).keys()]).toEqual([
      "bridge.yml",
      "budgets.yml",
      "collector.yml",
      "degraded.yml",
      "failures.yml",
      "fingerprints.yml",
      "runaways.yml",
      "services.yml",
      "slo.yml",
      "stalled.yml",
    ]);
  });
});

function labelsOf(metric: Selector["metric"]): readonly string[] | undefined {
  if (metric === "entelix_spans_calls_total") return [...SPAN_LABELS, ...ANYWHERE];
  const own = PROMETHEUS_METRICS.get(metric) ?? SERVICE_METRICS.get(metric);
  if (own === undefined) return undefined;
  return [...own, ...ANYWHERE, ...(metric.endsWith("_bucket") ? ["le"] : [])];
}
