import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import {
  ConsoleMetricExporter,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import { LONGEST_WAIT_MS } from "../../within.ts";
import { metricsUrl, urlInPlaceOfEnvironments } from "../endpoint.ts";
import { environmentNumber } from "../environment-variables.ts";
import {
  exportersFromEnvironment,
  protocolFromEnvironment,
  warnOfHeaders,
} from "../exporter-choice.ts";
import type { MetricReporter } from "./reported-metric-exporter.ts";
import { ReportedMetricExporter } from "./reported-metric-exporter.ts";
import type { MetricReaderLike, TelemetrySetupOptions } from "./telemetry-setup-options.ts";

/** As often as the shipped Prometheus scrapes: a failure is seen at its next look. */
const USUAL_INTERVAL_MS = 15_000;

/** Everything that takes metrics: what `OTEL_METRICS_EXPORTER` names, and the given readers. */
export function metricReaders(
  options: TelemetrySetupOptions,
  reporter: MetricReporter,
): MetricReaderLike[] {
  const exporters = exportersFromEnvironment("METRICS");
  const readers: MetricReaderLike[] = [];
  if (exporters.has("otlp")) {
    protocolFromEnvironment("METRICS");
    warnOfHeaders("METRICS");
    readers.push(periodic(new ReportedMetricExporter(otlpExporter(options), reporter), options));
  }
  if (exporters.has("console")) readers.push(periodic(new ConsoleMetricExporter(), options));
  return [...readers, ...(options.metricReaders ?? [])];
}

function otlpExporter({ endpoint, headers }: TelemetrySetupOptions): OTLPMetricExporter {
  const url = endpoint === undefined ? urlInPlaceOfEnvironments("METRICS") : metricsUrl(endpoint);
  return new OTLPMetricExporter({
    ...(url === undefined ? {} : { url }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  });
}

function periodic(exporter: PushMetricExporter, options: TelemetrySetupOptions) {
  const ms = { from: 1, to: LONGEST_WAIT_MS };
  const exportIntervalMillis =
    options.metricIntervalMs ??
    environmentNumber("OTEL_METRIC_EXPORT_INTERVAL", { ...ms, byDefault: USUAL_INTERVAL_MS });
  const timeout = environmentNumber("OTEL_METRIC_EXPORT_TIMEOUT", { ...ms, byDefault: 30_000 });
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    // The SDK refuses a timeout that is longer than the interval.
    exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
  });
}
