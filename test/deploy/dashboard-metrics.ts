import { RECORDS } from "../../deploy/slo/src/records.ts";
import { PROMETHEUS_METRICS } from "../bridge/support/metric-table.ts";

/** On every series: who sent it. */
const SENDER = ["job", "instance"];

/** The collector's span metrics, with the dimensions of collector-config.yaml. */
export const SPAN_LABELS = [
  "gen_ai_operation_name",
  "gen_ai_agent_name",
  "entelix_tenant_id",
  "entelix_run_outcome",
  "entelix_failure_kind",
  "entelix_failure_tool_name",
  "entelix_tool_error_kind",
  "entelix_root",
  "otel_metric_overflow",
];

/** The collector's own metrics at 0.155, by the documentation of its components. */
const COLLECTOR: Readonly<Record<string, readonly string[]>> = {
  otelcol_receiver_accepted_spans: ["receiver", "transport"],
  otelcol_receiver_refused_spans: ["receiver", "transport"],
  otelcol_exporter_sent_spans: ["exporter"],
  otelcol_exporter_send_failed_spans: ["exporter"],
  otelcol_exporter_enqueue_failed_spans: ["exporter"],
  otelcol_exporter_queue_size: ["exporter", "data_type"],
  otelcol_exporter_queue_capacity: ["exporter", "data_type"],
  otelcol_process_memory_rss: [],
  otelcol_processor_tail_sampling_global_count_traces_sampled: ["sampled"],
  otelcol_processor_tail_sampling_sampling_traces_on_memory: [],
  otelcol_processor_tail_sampling_sampling_trace_dropped_too_early: [],
};

/** Every metric that a dashboard may name, as Prometheus has it, with its labels. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, ReadonlySet<string>>([["up", new Set(SENDER)]]);
  for (const [shown, own] of PROMETHEUS_METRICS) {
    known.set(shown, new Set([...SENDER, ...own, ...(shown.endsWith("_bucket") ? ["le"] : [])]));
  }
  known.set("entelix_spans_calls_total", new Set([...SENDER, ...SPAN_LABELS]));
  known.set("entelix_spans_duration_seconds_bucket", new Set([...SENDER, ...SPAN_LABELS, "le"]));
  const scope = ["job", "gen_ai_agent_name", "entelix_tenant_id"];
  const ofObjective = ["objective", "within", ...scope];
  known.set(RECORDS.budget, new Set(["objective"]));
  for (const window of ["1m", "1h", "6h", "3d", "30d"]) {
    known.set(RECORDS.runs(window), new Set(ofObjective));
    known.set(RECORDS.burnRate(window), new Set(ofObjective));
    const bad = ["entelix_failure_kind", "entelix_failure_origin"];
    known.set(RECORDS.badRuns(window), new Set([...ofObjective, ...(window === "1m" ? bad : [])]));
  }
  known.set(RECORDS.left, new Set(ofObjective));
  for (const [name, labels] of Object.entries(COLLECTOR)) {
    known.set(name, new Set([...SENDER, ...labels]));
  }
  return known;
}
