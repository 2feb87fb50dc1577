import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
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
import { withoutHeaderName } from "../../export/attempt.ts";
import type { Reporter } from "../../report.ts";
import { LONGEST_WAIT_MS } from "../../spans/within.ts";
import { metricsUrl, urlInPlaceOfEnvironments } from "../endpoint.ts";
import { environmentNumber } from "../environment-variables.ts";
import {
  exportersFromEnvironment,
  protocolFromEnvironment,
  warnOfHeaders,
} from "../exporter-choice.ts";
import type { MetricReaderLike, TelemetrySetupOptions } from "./setup-telemetry.ts";

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

/** Reports errors of metrics, until a shutdown gives up on them: the shutdown reports that. */
export class MetricReporter {
  readonly #reporter: Reporter;
  #over = false;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  report(error: unknown, where: string): void {
    if (!this.#over) this.#reporter.report(error, where);
  }

  /** What comes from here on is no more news. */
  end(): void {
    this.#over = true;
  }
}

type ExportDone = Parameters<PushMetricExporter["export"]>[1];
type ExportResult = Parameters<ExportDone>[0];

/** The SDK's `ExportResultCode`, which is in a package that this one does not depend on. */
const SUCCESS: ExportResult["code"] = 0;
const FAILED: ExportResult["code"] = 1;

/**
 * Reports when metrics do not arrive, the first time after they did. As long as the
 * process goes on nothing is lost by it: sums are sent whole each time.
 */
class ReportedMetricExporter implements PushMetricExporter {
  readonly #exporter: PushMetricExporter;
  readonly #reporter: MetricReporter;
  /** Why the last metrics did not arrive; `undefined` when they did. */
  #trouble: Error | undefined;

  constructor(exporter: PushMetricExporter, reporter: MetricReporter) {
    this.#exporter = exporter;
    this.#reporter = reporter;
  }

  export(metrics: ResourceMetrics, done: ExportDone): void {
    const settle: ExportDone = ({ code, error }) => {
      const result = { code, ...(error && { error: withoutHeaderName(error) }) };
      this.#note(result);
      done(result);
    };
    try {
      this.#exporter.export(metrics, settle);
    } catch (error) {
      settle({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Rejects when the metrics sent last did not arrive. */
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

  #note(result: ExportResult): void {
    const worked = this.#trouble === undefined;
    this.#trouble =
      result.code === SUCCESS ? undefined : (result.error ?? new Error("the export failed"));
    if (worked && this.#trouble !== undefined) {
      this.#reporter.report(this.#trouble, "metric export");
    }
  }
}
