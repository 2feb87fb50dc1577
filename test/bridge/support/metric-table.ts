import { NOTHING_REPLACED } from "../../../src/bridge/metrics/bridge-metrics.ts";
import {
  METRICS,
  type MetricName,
  prometheusLabel,
  prometheusNames,
} from "../../../src/bridge/metrics/metric-names.ts";
import { METRIC_ATTRIBUTES } from "../../../src/bridge/metrics/metric-notes.ts";

// What tests of dashboards, alerts and pages know of the bridge's metrics.

/** The names of metrics and of their attributes in OpenTelemetry. */
export const METRIC_NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(METRICS),
  ...Object.keys(METRIC_ATTRIBUTES),
]);

const known = Object.keys(METRICS).filter(isMetric);

/** The labels of each metric, by its names in Prometheus. */
export const PROMETHEUS_METRICS: ReadonlyMap<string, readonly string[]> = new Map(
  known.flatMap((name) =>
    prometheusNames(name).map((shown) => [shown, METRICS[name].attributes.map(prometheusLabel)]),
  ),
);

/** Every label that a metric may have. */
export const PROMETHEUS_LABELS: readonly string[] = Object.keys(METRIC_ATTRIBUTES)
  .filter((name): name is keyof typeof METRIC_ATTRIBUTES => name in METRIC_ATTRIBUTES)
  .map(prometheusLabel);

/** The labels that `_other` may stand in, as `entelix_label` names them. */
export const CAPPED_LABELS: readonly string[] = Object.keys(NOTHING_REPLACED);

/** How Prometheus shows a metric: its names, and the bounds of its buckets if it is a histogram. */
export function shownMetric(name: string): {
  readonly names: readonly string[];
  readonly buckets: readonly number[];
} {
  if (!isMetric(name)) throw new Error(`${name}: expected a metric of the table`);
  return { names: prometheusNames(name), buckets: METRICS[name].buckets ?? [] };
}

function isMetric(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}
