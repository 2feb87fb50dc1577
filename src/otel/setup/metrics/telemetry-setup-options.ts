import type { MeterProviderOptions } from "@opentelemetry/sdk-metrics";
import { checkList, checkOptionsObject } from "../../../events/option-checks.ts";
import { checkWait, type TracingOptions } from "../tracing-options.ts";

/** Something that takes metrics from the provider: a reader of the SDK's or of your own. */
export type MetricReaderLike = NonNullable<MeterProviderOptions["readers"]>[number];

/** Options of `setupTelemetry`: those of `setupTracing`, which hold for both signals, and more. */
export interface TelemetrySetupOptions extends TracingOptions {
  /**
   * How often metrics are sent, in ms, from 1. Default: `OTEL_METRIC_EXPORT_INTERVAL`, else 15,000,
   * as often as the shipped Prometheus looks.
   */
  readonly metricIntervalMs?: number | undefined;
  /** Readers of your own (for Prometheus to scrape, say), beside the one that sends by OTLP. */
  readonly metricReaders?: readonly MetricReaderLike[] | undefined;
}

/**
 * @throws TypeError when the options are no object, or `metricReaders` no list.
 * @throws RangeError when `metricIntervalMs` is no number of milliseconds from 1.
 */
export function checkMetricOptions(options: TelemetrySetupOptions): void {
  checkOptionsObject(options);
  checkList(options.metricReaders, "metricReaders");
  if (options.metricIntervalMs !== undefined) {
    checkWait(options.metricIntervalMs, "metricIntervalMs");
  }
}
