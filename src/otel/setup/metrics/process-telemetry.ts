import type { MeterProvider } from "@opentelemetry/api";
import { type MetricsPart, Tracing, type TracingParts } from "../tracing.ts";

/**
 * The wired tracing and metrics of a process: made by `setupTelemetry`, ended by one
 * {@link Tracing.shutdown}. Sinks that are made through it count on its meter provider.
 */
export class ProcessTelemetry extends Tracing {
  /**
   * For sinks and instrumentations. Measures nothing where `OTEL_SDK_DISABLED` is `true`, or where
   * nothing takes metrics.
   */
  readonly meterProvider: MeterProvider;

  constructor(parts: TracingParts, metrics: MetricsPart) {
    super(parts, metrics);
    this.meterProvider = metrics.meterProvider;
  }
}
