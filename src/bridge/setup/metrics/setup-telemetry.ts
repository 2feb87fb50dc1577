import {
  type MeterProvider as ApiMeterProvider,
  createNoopMeter,
  metrics,
} from "@opentelemetry/api";
import { MeterProvider, type MeterProviderOptions } from "@opentelemetry/sdk-metrics";
import { checkList, type OptionChecks } from "../../../events/door.ts";
import { isRegistered } from "../../global-registration.ts";
import { observable, ownMeter } from "../../metrics/instruments.ts";
import { checkWait } from "../../spans/within.ts";
import { variablesAloud } from "../environment-variables.ts";
import { type Wiring, wireTracing } from "../setup-tracing.ts";
import type { SpanLedger } from "../span-ledger.ts";
import { LOSS_REASONS } from "../span-ledger.ts";
import { type MetricsPart, Tracing, type TracingParts } from "../tracing.ts";
import { TRACING_CHECKS, type TracingOptions } from "../tracing-options.ts";
import { MetricReporter, metricReaders } from "./metric-readers.ts";

/**
 * Does what `setupTracing` does and adds metrics: OTLP/HTTP every 15 s to the same endpoint
 * with the same resource, registered for the whole process. Metrics count events and are exact for
 * any sampler.
 *
 * Synchronous: call it before the agent starts. Beside what `setupTracing` reads it honours
 * `OTEL_METRICS_EXPORTER` (`otlp`, `console`, `none`), `OTEL_METRIC_EXPORT_INTERVAL`,
 * `OTEL_METRIC_EXPORT_TIMEOUT` and `OTEL_EXPORTER_OTLP_METRICS_*`.
 *
 * @throws TypeError, RangeError if an option is invalid; the message names it.
 *
 * @example
 * const telemetry = setupTelemetry({ serviceName: "support-agent" });
 * agent.addSink(telemetry.createBridge());
 * // at the end of the process
 * await telemetry.shutdown();
 */
export function setupTelemetry(options: TelemetrySetupOptions = {}): ProcessTelemetry {
  return variablesAloud(() => wireTelemetry(options));
}

function wireTelemetry(options: TelemetrySetupOptions): ProcessTelemetry {
  const wiring = wireTracing(options, CHECKS);
  try {
    return new ProcessTelemetry(wiring.parts, wireMetrics(wiring));
  } catch (error) {
    // For example a reader of another provider. The tracer provider must not stay registered then.
    void new Tracing(wiring.parts).shutdown();
    throw error;
  }
}

function wireMetrics({ options, parts, resource }: Wiring<TelemetrySetupOptions>): MetricsPart {
  if (resource === undefined) return NO_METRICS;
  const reporter = new MetricReporter(parts.reporter);
  const readers = metricReaders(options, reporter);
  if (readers.length === 0) return NO_METRICS;
  const provider = new MeterProvider({ resource, readers });
  observeSpansDropped(provider, parts.ledger);
  const metrics = new ProcessMetrics(provider, reporter);
  if (options.register ?? true) metrics.register();
  return metrics;
}

/** Reports lost spans as `entelix.bridge.spans_dropped`. Each reason starts at 0. */
function observeSpansDropped(provider: ApiMeterProvider, ledger: SpanLedger): void {
  observable(ownMeter(provider), "entelix.bridge.spans_dropped").addCallback((result) => {
    const { lost } = ledger.counts();
    for (const reason of LOSS_REASONS) result.observe(lost[reason], { "entelix.reason": reason });
  });
}

/** A metric reader of the SDK or your own. */
export type MetricReaderLike = NonNullable<MeterProviderOptions["readers"]>[number];

/** Options of `setupTelemetry`. Those of `setupTracing` apply to spans and metrics. */
export interface TelemetrySetupOptions extends TracingOptions {
  /**
   * Interval between metric exports in ms, from 1. Default: `OTEL_METRIC_EXPORT_INTERVAL`, else
   * 15,000, the scrape interval of the shipped Prometheus.
   */
  readonly metricIntervalMs?: number | undefined;
  /** Your own readers, for example for Prometheus, in addition to the OTLP exporter. */
  readonly metricReaders?: readonly MetricReaderLike[] | undefined;
}

const CHECKS: OptionChecks<TelemetrySetupOptions> = {
  ...TRACING_CHECKS,
  metricReaders: checkList,
  metricIntervalMs(given, field) {
    if (given !== undefined) checkWait(given, field);
  },
};

/** The metrics of a process. */
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

  /** Registers the provider globally. Reports an error if another one is registered. */
  register(): void {
    if (!isRegistered("metrics") && metrics.setGlobalMeterProvider(this.#provider)) return;
    const advice = "shut it down and call metrics.disable() before, or pass register: false";
    this.#reporter.report(new Error(`another meter provider is registered: ${advice}`), "setup");
  }

  /** Sends the current metrics. Rejects if that fails. */
  forceFlush(): Promise<void> {
    return this.#provider.forceFlush();
  }

  /** Sends the last metrics, and unregisters the provider. */
  async shutdown(): Promise<void> {
    this.#reporter.isLast = true;
    try {
      await this.#provider.shutdown();
    } catch (error) {
      const trouble = new Error(`the last metrics did not arrive: ${error}`, { cause: error });
      this.#reporter.report(trouble, "shutdown");
    }
    this.#unregister();
  }

  /** Also unregisters the provider. */
  giveUp(): void {
    this.#reporter.end();
    this.#unregister();
  }

  #unregister(): void {
    if (metrics.getMeterProvider() === this.#provider) metrics.disable();
  }
}

/** Without readers: bridges measure nothing, at no cost. */
const NO_METRICS: MetricsPart = {
  meterProvider: { getMeter: () => createNoopMeter() },
  forceFlush: async () => {},
  shutdown: async () => {},
  giveUp: () => {},
};

/**
 * Tracing and metrics of a process, created by `setupTelemetry`. {@link Tracing.shutdown} ends both. Bridges
 * of `createBridge` use its meter provider.
 */
export class ProcessTelemetry extends Tracing {
  /**
   * For sinks and instrumentations. It measures nothing if `OTEL_SDK_DISABLED` is `true`, or without any
   * reader.
   */
  readonly meterProvider: ApiMeterProvider;

  constructor(parts: TracingParts, metrics: MetricsPart) {
    super(parts, metrics);
    this.meterProvider = metrics.meterProvider;
  }
}
