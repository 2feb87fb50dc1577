import {
  type AggregationOption,
  AggregationTemporality,
  AggregationType,
  ConsoleMetricExporter,
  type InstrumentType,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import type { Reporter } from "../../report.ts";
import { LONGEST_WAIT_MS } from "../../spans/within.ts";
import { environmentNumber } from "../environment-variables.ts";
import { exportersFromEnvironment, otlpTarget } from "../exporter-choice.ts";
import { OtlpMetricExporter } from "./otlp-metrics.ts";
import type { MetricReaderLike, TelemetrySetupOptions } from "./setup-telemetry.ts";

/** The scrape interval of the shipped Prometheus. */
const USUAL_INTERVAL_MS = 15_000;

/** The readers of `OTEL_METRICS_EXPORTER`, and the given ones. */
export function metricReaders(
  options: TelemetrySetupOptions,
  reporter: MetricReporter,
): MetricReaderLike[] {
  const exporters = exportersFromEnvironment("METRICS");
  const readers: MetricReaderLike[] = [];
  if (exporters.has("otlp")) {
    const exporter = new OtlpMetricExporter(otlpTarget("METRICS", options));
    reporter.exporter = exporter;
    readers.push(periodic(new ReportedMetricExporter(exporter, reporter), options));
  }
  if (exporters.has("console")) readers.push(periodic(new ConsoleMetricExporter(), options));
  return [...readers, ...(options.metricReaders ?? [])];
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
    // The SDK throws if the timeout is longer than the interval.
    exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
  });
}

/** Reports errors of metrics until {@link end}. */
export class MetricReporter {
  /** Its requests end with the reports. Absent without OTLP. */
  exporter: OtlpMetricExporter | undefined;
  /** Whether the last metrics are being sent. The shutdown reports their errors. */
  isLast = false;
  readonly #reporter: Reporter;
  #over = false;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  report(error: unknown, where: string): void {
    if (!this.#over) this.#reporter.report(error, where);
  }

  /** Stops requests and reports. The shutdown itself reports that metrics were not sent in time. */
  end(): void {
    this.#over = true;
    this.exporter?.giveUp();
  }
}

/**
 * Reports the first failed export after a successful one. Values are cumulative, so the next export recovers
 * a failed one.
 */
class ReportedMetricExporter implements PushMetricExporter {
  readonly #exporter: PushMetricExporter;
  readonly #reporter: MetricReporter;
  /** Error of the last export; `undefined` if it succeeded. */
  #trouble: Error | undefined;

  constructor(exporter: PushMetricExporter, reporter: MetricReporter) {
    this.#exporter = exporter;
    this.#reporter = reporter;
  }

  export(metrics: ResourceMetrics, done: Parameters<PushMetricExporter["export"]>[1]): void {
    this.#exporter.export(metrics, (result) => {
      this.#note(result);
      done(result);
    });
  }

  /** Rejects if the last export failed. */
  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush();
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    const chosen = this.#exporter.selectAggregationTemporality?.(type);
    return chosen ?? AggregationTemporality.CUMULATIVE;
  }

  selectAggregation(type: InstrumentType): AggregationOption {
    return this.#exporter.selectAggregation?.(type) ?? { type: AggregationType.DEFAULT };
  }

  #note({ code, error }: Parameters<Parameters<PushMetricExporter["export"]>[1]>[0]): void {
    const worked = this.#trouble === undefined;
    this.#trouble = code === 0 ? undefined : (error ?? new Error("the export failed"));
    if (worked && this.#trouble !== undefined && !this.#reporter.isLast) {
      this.#reporter.report(this.#trouble, "metric export");
    }
  }
}
