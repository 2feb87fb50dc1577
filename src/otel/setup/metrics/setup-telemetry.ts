import type { MeterProvider as ApiMeterProvider } from "@opentelemetry/api";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { observable, ownMeter } from "../../metrics/instruments.ts";
import { variablesAloud } from "../diag-logger.ts";
import { LOSS_REASONS } from "../loss-reason.ts";
import { type Wiring, wireTracing } from "../setup-tracing.ts";
import type { SpanLedger } from "../span-ledger.ts";
import { type MetricsPart, Tracing } from "../tracing.ts";
import { metricReaders } from "./metric-readers.ts";
import { NO_METRICS, ProcessMetrics, ProcessTelemetry } from "./process-metrics.ts";
import { MetricReporter } from "./reported-metric-exporter.ts";
import { checkMetricOptions, type TelemetrySetupOptions } from "./telemetry-setup-options.ts";

/**
 * `setupTracing` and, beside the spans, metrics: OTLP/HTTP (JSON) every 15 s to the same endpoint,
 * under the same resource, registered for the whole process. What is counted from events is exact
 * whatever is sampled.
 *
 * Synchronous: call it before the agent starts. Beside what `setupTracing` reads it honours
 * `OTEL_METRICS_EXPORTER` (`otlp`, `console`, `none`), `OTEL_METRIC_EXPORT_INTERVAL`,
 * `OTEL_METRIC_EXPORT_TIMEOUT` and `OTEL_EXPORTER_OTLP_METRICS_*`.
 *
 * @throws TypeError, RangeError when an option can't be used; the message names it.
 *
 * @example
 * const telemetry = setupTelemetry({ serviceName: "support-agent" });
 * agent.addSink(telemetry.createBridge());
 * // at the end of the process
 * await telemetry.shutdown();
 */
export function setupTelemetry(options: TelemetrySetupOptions = {}): ProcessTelemetry {
  checkMetricOptions(options);
  const wiring = variablesAloud(() => wireTracing(options));
  try {
    return new ProcessTelemetry(wiring.parts, wireMetrics(options, wiring));
  } catch (error) {
    // A reader that belongs to another provider, say: nothing half wired may stay registered.
    void new Tracing(wiring.parts).shutdown();
    throw error;
  }
}

function wireMetrics(options: TelemetrySetupOptions, { parts, resource }: Wiring): MetricsPart {
  if (resource === undefined) return NO_METRICS;
  const reporter = new MetricReporter(parts.reporter);
  const readers = variablesAloud(() => metricReaders(options, reporter));
  if (readers.length === 0) return NO_METRICS;
  const provider = new MeterProvider({ resource, readers });
  observeSpansDropped(provider, parts.ledger);
  const metrics = new ProcessMetrics(provider, reporter);
  if (options.register ?? true) metrics.register();
  return metrics;
}

/** Shows the spans that a ledger has lost as `entelix.bridge.spans_dropped`, each reason from 0. */
function observeSpansDropped(provider: ApiMeterProvider, ledger: SpanLedger): void {
  observable(ownMeter(provider), "entelix.bridge.spans_dropped").addCallback((result) => {
    const { lost } = ledger.counts();
    for (const reason of LOSS_REASONS) result.observe(lost[reason], { "entelix.reason": reason });
  });
}
