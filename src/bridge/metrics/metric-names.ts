import { CONVENTION_METRICS } from "./convention-metrics.ts";
import { counter, gauge, histogram, type MetricDoc, upDownCounter } from "./metric-doc.ts";

/**
 * All metrics of this package. `docs/metrics.md` is generated from this table, rules and dashboards use its
 * names, and the compiler checks every use.
 */
export const METRICS = {
  ...CONVENTION_METRICS,
  "entelix.runs": counter(
    "{run}",
    [
      "entelix.run.outcome",
      "entelix.failure.kind",
      "entelix.failure.origin",
      "gen_ai.agent.name",
      "entelix.tenant_id",
      "entelix.root",
    ],
    "Runs that ended.",
  ),
  "entelix.runs.working_time": histogram(
    "s",
    [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600],
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Working time of a root run, without waits for a person.",
  ),
  "entelix.runs.active": upDownCounter(
    "{run}",
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Runs that are open now.",
  ),
  "entelix.runs.waiting": upDownCounter(
    "{run}",
    ["entelix.run.waits_for", "gen_ai.agent.name"],
    "Runs that are open now, by what they wait for.",
  ),
  "entelix.runs.idle.max": gauge(
    "s",
    ["entelix.run.waits_for", "gen_ai.agent.name"],
    "Longest time since the last event of one of these runs; 0 without such a run.",
  ),
  "entelix.runs.degraded": counter(
    "{run}",
    ["gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Runs that completed although the last call of this tool failed.",
  ),
  "entelix.runs.looping": counter(
    "{run}",
    ["entelix.run.loop", "gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Runs whose own tool calls are in a loop.",
  ),
  "entelix.failures": counter(
    "{failure}",
    ["entelix.failure.fingerprint"],
    "Failed root runs and tool calls by fingerprint.",
  ),
  "entelix.tool.failures": counter(
    "{failure}",
    ["gen_ai.tool.name", "entelix.tool.error_kind", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tool calls that failed.",
  ),
  "entelix.tool.cancelled": counter(
    "{tool_call}",
    ["gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tool calls that were cancelled.",
  ),
  "entelix.tool.terminal_failures": counter(
    "{run}",
    ["gen_ai.tool.name", "entelix.tool.error_kind", "gen_ai.agent.name", "entelix.tenant_id"],
    "Root runs that failed as `tool_error_terminal`, by the tool that ended them.",
  ),
  "entelix.approvals.pending": upDownCounter(
    "{approval}",
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Interrupted root runs that wait for an approval.",
  ),
  "entelix.approvals.oldest": gauge(
    "s",
    ["entelix.tenant_id"],
    "Longest wait of a pending approval; 0 without one.",
  ),
  "entelix.tokens": counter(
    "{token}",
    ["gen_ai.token.type", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tokens used.",
  ),
  "entelix.cost": counter("{USD}", ["gen_ai.agent.name", "entelix.tenant_id"], "US dollars spent."),
  "entelix.bridge.events": counter("{event}", [], "Events received."),
  "entelix.bridge.ignored": counter("{event}", ["entelix.reason"], "Ignored events, by reason."),
  "entelix.bridge.adjustments": counter(
    "{adjustment}",
    ["entelix.reason", "entelix.tenant_id"],
    "Adjustments because of limits, clocks or tenants.",
  ),
  "entelix.bridge.open_runs": gauge("{run}", [], "Runs that are open in the bridge now."),
  "entelix.bridge.label_overflow": counter(
    "{measurement}",
    ["entelix.label"],
    "Measurements with a label that was replaced by `_other`.",
  ),
  "entelix.bridge.spans_dropped": counter("{span}", ["entelix.reason"], "Lost spans, by reason."),
  "entelix.audit.append_failures": counter("{row}", [], "Audit rows that could not be stored."),
} as const satisfies Record<string, MetricDoc>;

/** The value of a label above its cap. */
export const OTHER = "_other";

/** The conventions' value for an error of missing or unknown class. */
export const UNCLASSED = "_OTHER";

/** The value of `gen_ai.agent.name` for a run without an agent's name. */
export const UNKNOWN = "unknown";

/** The name of a metric of this package. */
export type MetricName = keyof typeof METRICS;

/** The name of an attribute of these metrics. */
export type MetricAttribute = (typeof METRICS)[MetricName]["attributes"][number];

/**
 * The names of a metric in Prometheus, as the collector's `prometheus` exporter writes them with
 * `add_metric_suffixes` on: one, or three for a histogram.
 *
 * @example
 * prometheusNames("entelix.runs"); // ["entelix_runs_total"]
 */
export function prometheusNames(name: MetricName): readonly string[] {
  const { kind, unit } = METRICS[name];
  const base = underscored(name) + (UNIT_SUFFIXES.get(unit) ?? "");
  switch (kind) {
    case "histogram":
      return [`${base}_bucket`, `${base}_sum`, `${base}_count`];
    case "counter":
      return [`${base}_total`];
    case "updowncounter":
    case "gauge":
      return [base];
    default:
      return kind satisfies never;
  }
}

/** The name of an attribute as a label in Prometheus. */
export function prometheusLabel(attribute: MetricAttribute): string {
  return underscored(attribute);
}

/** Units in braces are annotations and add no suffix. */
const UNIT_SUFFIXES: ReadonlyMap<string, string> = new Map([["s", "_seconds"]]);

function underscored(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}
