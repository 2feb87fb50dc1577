import {
  type MeterProvider as ApiMeterProvider,
  createNoopMeter,
  metrics,
} from "@opentelemetry/api";
import { MeterProvider, type MeterProviderOptions } from "@opentelemetry/sdk-metrics";
import { checkList, checkOptionsObject } from "../../../events/door.ts";
import { observable, ownMeter } from "../../metrics/instruments.ts";
import { checkWait } from "../../spans/within.ts";
import { variablesAloud } from "../environment-variables.ts";
import { isRegistered } from "../global-registration.ts";
import { type Wiring, wireTracing } from "../setup-tracing.ts";
import type { SpanLedger } from "../span-ledger.ts";
import { LOSS_REASONS } from "../span-ledger.ts";
import { type MetricsPart, Tracing, type TracingParts } from "../tracing.ts";
import type { TracingOptions } from "../tracing-options.ts";
import { MetricReporter, metricReaders } from "./metric-readers.ts";

/**
 * Does what `setupTracing` does and adds metrics: OTLP/HTTP (JSON) every 15 s to the same endpoint
 * with the same resource, registered for the whole process. Metrics count events and are exact for
 * any sampler.
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

/** A metric reader of the SDK or your own. */
export type MetricReaderLike = NonNullable<MeterProviderOptions["readers"]>[number];

/** Options of `setupTelemetry`: those of `setupTracing`, which hold for both signals, and more. */
export interface TelemetrySetupOptions extends TracingOptions {
  /**
   * Interval between metric exports in ms, from 1. Default: `OTEL_METRIC_EXPORT_INTERVAL`, else
   * 15,000, the scrape interval of the shipped Prometheus.
   */
  readonly metricIntervalMs?: number | undefined;
  /** Your own readers, for example for Prometheus, in addition to the OTLP exporter. */
  readonly metricReaders?: readonly MetricReaderLike[] | undefined;
}

/**
 * @throws TypeError when the options are no object, or `metricReaders` no list.
 * @throws RangeError when `metricIntervalMs` is no number of milliseconds from 1.
 */
function checkMetricOptions(options: TelemetrySetupOptions): void {
  checkOptionsObject(options);
  checkList(options.metricReaders, "metricReaders");
  if (options.metricIntervalMs !== undefined) {
    checkWait(options.metricIntervalMs, "metricIntervalMs");
  }
}

/** The metrics of a process: made by `setupTelemetry`, ended by its shutdown. */
class ProcessMetrics implements MetricsPart {
  readonly #provider: MeterProvider;
  readonly #reporter: MetricReporter;

  /** @param reporter that of the readers. */
  constructor(provider: MeterProvider, reporter: MetricReporter) {
    this.#provider = provider;
    this.#reporter = reporter;
  }

  get meterProvider(): ApiMeterProvider {
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
const NO_METRICS: MetricsPart = {
  meterProvider: { getMeter: () => createNoopMeter() },
  forceFlush: async () => {},
  shutdown: async () => {},
  giveUp: () => {},
};

/**
 * Tracing and metrics of a process, created by `setupTelemetry`. One {@link Tracing.shutdown} ends
 * both. Bridges created through it use its meter provider.
 */
export class ProcessTelemetry extends Tracing {
  /**
   * For sinks and instrumentations. Measures nothing where `OTEL_SDK_DISABLED` is `true`, or where
   * nothing takes metrics.
   */
  readonly meterProvider: ApiMeterProvider;

  constructor(parts: TracingParts, metrics: MetricsPart) {
    super(parts, metrics);
    this.meterProvider = metrics.meterProvider;
  }
}
