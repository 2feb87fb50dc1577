import { type DiagLogFunction, DiagLogLevel, diag } from "@opentelemetry/api";
import { Reporter } from "../report.ts";
import { metricReaders } from "../setup/metrics/metric-readers.ts";
import { MetricReporter } from "../setup/metrics/reported-metric-exporter.ts";
import { setupTracing } from "../setup/setup-tracing.ts";

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
