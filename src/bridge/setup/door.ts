// The door of `bridge/setup`: wiring of the Node SDK. Other parts of the room import from here.

export { environmentNumber } from "./environment-variables.ts";
export {
  metricsUrl,
  type Protocol,
  protocolChoice,
  protocolFromEnvironment,
  type SignalName,
  shownUrl,
  tracesUrl,
} from "./exporter-choice.ts";
export { isRegistered } from "./global-registration.ts";
export { MetricReporter, metricReaders } from "./metrics/metric-readers.ts";
export {
  type MetricReaderLike,
  type ProcessTelemetry,
  setupTelemetry,
  type TelemetrySetupOptions,
} from "./metrics/setup-telemetry.ts";
export { createSampler } from "./sampler.ts";
export { setupTracing } from "./setup-tracing.ts";
export {
  type LossReason,
  reasonOfFailure,
  type SpanCounts,
  type SpanLedger,
  type SpanLossError,
  shortText,
} from "./span-ledger.ts";
export type { Tracing } from "./tracing.ts";
export type { TracingOptions } from "./tracing-options.ts";
