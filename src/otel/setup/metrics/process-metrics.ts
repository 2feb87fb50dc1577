import { createNoopMeter, type MeterProvider, metrics } from "@opentelemetry/api";
import type { MeterProvider as SdkMeterProvider } from "@opentelemetry/sdk-metrics";
import { isRegistered } from "../global-registration.ts";
import { type MetricsPart, Tracing, type TracingParts } from "../tracing.ts";
import type { MetricReporter } from "./reported-metric-exporter.ts";

/** The metrics of a process: made by `setupTelemetry`, ended by its shutdown. */
export class ProcessMetrics implements MetricsPart {
  readonly #provider: SdkMeterProvider;
  readonly #reporter: MetricReporter;

  /** @param reporter that of the readers. */
  constructor(provider: SdkMeterProvider, reporter: MetricReporter) {
    this.#provider = provider;
    this.#reporter = reporter;
  }

  get meterProvider(): MeterProvider {
    return this.#provider;
  }

  /** Makes the provider the process's own, unless there is one: that is reported. */
  register(): void {
    if (!isRegistered("metrics") && metrics.setGlobalMeterProvider(this.#provider)) return;
    const advice = "shut it down and call metrics.disable() before, or pass register: false";
    this.#reporter.report(new Error(`another meter provider is registered: ${advice}`), "setup");
  }

  /** Sends the metrics as they are now; rejects when they did not arrive. */
  forceFlush(): Promise<void> {
    return this.#provider.forceFlush();
  }

  /** Sends the last metrics, and takes the provider back if it was the process's own. */
  async shutdown(): Promise<void> {
    try {
      await this.#provider.shutdown();
    } catch (error) {
      const trouble = new Error(`the last metrics did not arrive: ${error}`, { cause: error });
      this.#reporter.report(trouble, "shutdown");
    }
    this.#unregister();
  }

  /** Takes the provider back too: it is of no use while its last request is under way. */
  giveUp(): void {
    this.#reporter.end();
    this.#unregister();
  }

  #unregister(): void {
    if (metrics.getMeterProvider() === this.#provider) metrics.disable();
  }
}

/** No metrics, where no reader takes any: bridges on it measure nothing, at no cost. */
export const NO_METRICS: MetricsPart = {
  meterProvider: { getMeter: () => createNoopMeter() },
  forceFlush: async () => {},
  shutdown: async () => {},
  giveUp: () => {},
};

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
