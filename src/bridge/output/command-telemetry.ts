import { type DiagLogFunction, DiagLogLevel, diag } from "@opentelemetry/api";
import { AlwaysOnSampler } from "@opentelemetry/sdk-trace";
import { Reporter } from "../report.ts";
import { MetricReporter, metricReaders } from "../setup/metrics/metric-readers.ts";
import { setupTelemetry } from "../setup/metrics/setup-telemetry.ts";
import { setupTracing } from "../setup/setup-tracing.ts";
import type { Tracing } from "../setup/tracing.ts";
import type { TracingOptions } from "../setup/tracing-options.ts";
import type { FinishedSpan } from "./span-outlet.ts";
import { SpanOutlet } from "./span-outlet.ts";

interface WatchedOptions
  extends Pick<TracingOptions, "serviceName" | "endpoint" | "shutdownTimeoutMs" | "onError"> {
  /** Whether metrics are sent too. */
  readonly metrics: boolean;
  /** Sees each span when it ends. */
  readonly observe: (span: FinishedSpan) => void;
}

/**
 * Sets up the live telemetry of an application, for a command that shows its spans. All spans are sampled,
 * also if the environment says otherwise, and nothing is registered.
 */
export function watchedTelemetry({ metrics, observe, ...options }: WatchedOptions): Tracing {
  const watched = {
    ...options,
    register: false,
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SpanOutlet([], observe)],
  };
  return metrics ? setupTelemetry(watched) : setupTracing(watched);
}

/**
 * The warnings of OpenTelemetry and this package about the `OTEL_*` variables. It creates the setup without
 * registration, and shuts it down. Nothing is sent, since metric readers without a provider do nothing.
 */
export async function environmentWarnings(): Promise<string[]> {
  const warnings = new Set<string>();
  const note: DiagLogFunction = (message) => {
    warnings.add(message.replace(/^entelix-otel: /, ""));
  };
  const silent = () => {};
  diag.setLogger(
    { error: note, warn: note, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  try {
    await setupTracing({ register: false, onError: (error) => note(String(error)) }).shutdown();
    metricReaders({}, new MetricReporter(new Reporter(undefined)));
  } finally {
    diag.disable();
  }
  return [...warnings];
}
