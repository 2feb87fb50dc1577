import { type DiagLogFunction, DiagLogLevel, diag } from "@opentelemetry/api";
import { AlwaysOnSampler } from "@opentelemetry/sdk-trace-node";
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
 * The live telemetry of a process as an application sets it up, for a command that shows what it
 * sends: whatever the environment says every span is kept, and nothing is registered.
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
 * What OpenTelemetry and this package's setup would warn of in the environment's `OTEL_*` variables:
 * the setup is made once, unregistered, and taken down again. Nothing is sent: readers that no provider
 * has do nothing.
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
