import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import { describe, expect, it } from "vitest";
import {
  METRICS,
  type MetricName,
  prometheusLabel,
  prometheusNames,
} from "../../../src/bridge/metrics/metric-names.ts";
import { ROOT, readPage, tableRows } from "../../docs/pages.ts";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

/** As the collector's prometheus exporter (0.155.0) shows them, with add_metric_suffixes on. */
const SHOWN: Readonly<Record<MetricName, readonly string[]>> = {
  "gen_ai.invoke_agent.duration": [
    "gen_ai_invoke_agent_duration_seconds_bucket",
    "gen_ai_invoke_agent_duration_seconds_sum",
    "gen_ai_invoke_agent_duration_seconds_count",
  ],
  "gen_ai.invoke_workflow.duration": [
    "gen_ai_invoke_workflow_duration_seconds_bucket",
    "gen_ai_invoke_workflow_duration_seconds_sum",
    "gen_ai_invoke_workflow_duration_seconds_count",
  ],
  "gen_ai.execute_tool.duration": [
    "gen_ai_execute_tool_duration_seconds_bucket",
    "gen_ai_execute_tool_duration_seconds_sum",
    "gen_ai_execute_tool_duration_seconds_count",
  ],
  "gen_ai.invoke_agent.tool_calls": [
    "gen_ai_invoke_agent_tool_calls_bucket",
    "gen_ai_invoke_agent_tool_calls_sum",
    "gen_ai_invoke_agent_tool_calls_count",
  ],
  "gen_ai.client.operation.duration": [
    "gen_ai_client_operation_duration_seconds_bucket",
    "gen_ai_client_operation_duration_seconds_sum",
    "gen_ai_client_operation_duration_seconds_count",
  ],
  "gen_ai.client.inference.usage.input_tokens": [
    "gen_ai_client_inference_usage_input_tokens_total",
  ],
  "gen_ai.client.inference.usage.output_tokens": [
    "gen_ai_client_inference_usage_output_tokens_total",
  ],
  "gen_ai.invoke_agent.inference_calls": [
    "gen_ai_invoke_agent_inference_calls_bucket",
    "gen_ai_invoke_agent_inference_calls_sum",
    "gen_ai_invoke_agent_inference_calls_count",
  ],
  "gen_ai.client.inference.duration": [
    "gen_ai_client_inference_duration_seconds_bucket",
    "gen_ai_client_inference_duration_seconds_sum",
    "gen_ai_client_inference_duration_seconds_count",
  ],
  "gen_ai.client.inference.time_to_first_chunk": [
    "gen_ai_client_inference_time_to_first_chunk_seconds_bucket",
    "gen_ai_client_inference_time_to_first_chunk_seconds_sum",
    "gen_ai_client_inference_time_to_first_chunk_seconds_count",
  ],
  "gen_ai.client.inference.operation.input_tokens": [
    "gen_ai_client_inference_operation_input_tokens_bucket",
    "gen_ai_client_inference_operation_input_tokens_sum",
    "gen_ai_client_inference_operation_input_tokens_count",
  ],
  "gen_ai.client.inference.operation.output_tokens": [
    "gen_ai_client_inference_operation_output_tokens_bucket",
    "gen_ai_client_inference_operation_output_tokens_sum",
    "gen_ai_client_inference_operation_output_tokens_count",
  ],
  "gen_ai.client.token.usage": [
    "gen_ai_client_token_usage_bucket",
    "gen_ai_client_token_usage_sum",
    "gen_ai_client_token_usage_count",
  ],
  "gen_ai.client.operation.time_to_first_chunk": [
    "gen_ai_client_operation_time_to_first_chunk_seconds_bucket",
    "gen_ai_client_operation_time_to_first_chunk_seconds_sum",
    "gen_ai_client_operation_time_to_first_chunk_seconds_count",
  ],
  "gen_ai.client.inference.usage.cache_read.input_tokens": [
    "gen_ai_client_inference_usage_cache_read_input_tokens_total",
  ],
  "gen_ai.client.inference.usage.cache_write.input_tokens": [
    "gen_ai_client_inference_usage_cache_write_input_tokens_total",
  ],
  "gen_ai.client.inference.usage.reasoning.output_tokens": [
    "gen_ai_client_inference_usage_reasoning_output_tokens_total",
  ],
  "entelix.runs": ["entelix_runs_total"],
  "entelix.runs.working_time": [
    "entelix_runs_working_time_seconds_bucket",
    "entelix_runs_working_time_seconds_sum",
    "entelix_runs_working_time_seconds_count",
  ],
  "entelix.runs.active": ["entelix_runs_active"],
  "entelix.failures": ["entelix_failures_total"],
  "entelix.runs.waiting": ["entelix_runs_waiting"],
  "entelix.runs.idle.max": ["entelix_runs_idle_max_seconds"],
  "entelix.runs.looping": ["entelix_runs_looping_total"],
  "entelix.runs.degraded": ["entelix_runs_degraded_total"],
  "entelix.tool.failures": ["entelix_tool_failures_total"],
  "entelix.tool.cancelled": ["entelix_tool_cancelled_total"],
  "entelix.tool.terminal_failures": ["entelix_tool_terminal_failures_total"],
  "entelix.approvals.pending": ["entelix_approvals_pending"],
  "entelix.approvals.oldest": ["entelix_approvals_oldest_seconds"],
  "entelix.tokens": ["entelix_tokens_total"],
  "entelix.cost": ["entelix_cost_total"],
  "entelix.bridge.events": ["entelix_bridge_events_total"],
  "entelix.bridge.ignored": ["entelix_bridge_ignored_total"],
  "entelix.bridge.adjustments": ["entelix_bridge_adjustments_total"],
  "entelix.bridge.open_runs": ["entelix_bridge_open_runs"],
  "entelix.bridge.label_overflow": ["entelix_bridge_label_overflow_total"],
  "entelix.bridge.spans_dropped": ["entelix_bridge_spans_dropped_total"],
  "entelix.audit.append_failures": ["entelix_audit_append_failures_total"],
};

describe("names in Prometheus", () => {
  it.each(Object.entries(SHOWN))("of %s", (name, shown) => {
    const known = Object.keys(METRICS).find((each): each is MetricName => each === name);
    expect(known && prometheusNames(known)).toEqual(shown);
  });

  it("are there for every metric", () => {
    expect(Object.keys(SHOWN).toSorted()).toEqual(Object.keys(METRICS).toSorted());
  });

  it("of labels have underscores for dots", () => {
    expect(prometheusLabel("entelix.tool.error_kind")).toBe("entelix_tool_error_kind");
  });
});

describe("docs/metrics.md", () => {
  const page = readPage("docs/metrics.md");

  it("is what the table in the code gives: npm run docs", () => {
    const script = join(ROOT, "scripts/generate-docs.mjs");
    const args = [script, "--print", "metrics"];
    expect(page).toBe(execFileSync(process.execPath, args, { encoding: "utf8" }));
  });

  it("has a row for each metric, with its unit and its names in Prometheus", () => {
    const rows = tableRows(page).filter((row) => row.length === 6);
    const found = rows.map(([name, , unit, , shown]) => [name, unit, shown?.split(", ")]);
    const expected = Object.entries(METRICS).map(([name, { unit }]) => [
      name,
      unit,
      Object.entries(SHOWN).find(([each]) => each === name)?.[1],
    ]);
    expect(found.toSorted()).toEqual(expected.toSorted());
  });
});

describe("the instruments", () => {
  it("have the kind, unit and meaning of the table", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.toolComplete("a"));
    bench.at(2, run.complete());
    const seen = await bench.collect();
    for (const metric of seen.metrics) {
      const { name } = metric.descriptor;
      const doc = Object.entries(METRICS).find(([each]) => each === name)?.[1];
      expect(metric.descriptor).toMatchObject({ unit: doc?.unit, description: doc?.brief });
      expect([name, kindOf(metric)]).toEqual([name, doc?.kind]);
    }
    const kinds = new Set(seen.metrics.map(kindOf));
    expect([...kinds].toSorted()).toEqual(["counter", "gauge", "histogram", "updowncounter"]);
  });
});

function kindOf(metric: MetricData): string {
  switch (metric.dataPointType) {
    case DataPointType.HISTOGRAM:
      return "histogram";
    case DataPointType.GAUGE:
      return "gauge";
    case DataPointType.SUM:
      return metric.isMonotonic ? "counter" : "updowncounter";
    default:
      return metric.descriptor.name;
  }
}
