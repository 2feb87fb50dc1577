export type {
  LoggerLike,
  LoggerProviderLike,
  LogRecordLike,
  ProgressOptions,
} from "../bridge/progress-options.ts";
export type {
  MetricReaderLike,
  ProcessTelemetry,
  TelemetrySetupOptions,
} from "../bridge/setup/metrics/setup-telemetry.ts";
export { setupTelemetry } from "../bridge/setup/metrics/setup-telemetry.ts";
export type { LossReason, SpanCounts, SpanLossError } from "../bridge/setup/span-ledger.ts";
