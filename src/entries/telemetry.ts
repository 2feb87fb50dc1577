export type { LossReason } from "../otel/setup/loss-reason.ts";
export type { SpanLossError } from "../otel/setup/loss-reporter.ts";
export type { ProcessTelemetry } from "../otel/setup/metrics/process-metrics.ts";
export { setupTelemetry } from "../otel/setup/metrics/setup-telemetry.ts";
export type {
  MetricReaderLike,
  TelemetrySetupOptions,
} from "../otel/setup/metrics/telemetry-setup-options.ts";
export type { SpanCounts } from "../otel/setup/span-ledger.ts";
