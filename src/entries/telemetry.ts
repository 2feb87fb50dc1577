export type {
  LoggerLike,
  LoggerProviderLike,
  LogRecordLike,
  ProgressOptions,
} from "../otel/progress-options.ts";
export type {
  MetricReaderLike,
  ProcessTelemetry,
  TelemetrySetupOptions,
} from "../otel/setup/metrics/setup-telemetry.ts";
export { setupTelemetry } from "../otel/setup/metrics/setup-telemetry.ts";
export type { LossReason, SpanCounts, SpanLossError } from "../otel/setup/span-ledger.ts";
