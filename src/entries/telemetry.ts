export type { LossReason } from "../otel/setup/loss-reason.ts";
export type { ProcessTelemetry } from "../otel/setup/metrics/process-telemetry.ts";
export { setupTelemetry } from "../otel/setup/metrics/setup-telemetry.ts";
export type {
  MetricReaderLike,
  TelemetrySetupOptions,
} from "../otel/setup/metrics/telemetry-options.ts";
export type { SpanCounts } from "../otel/setup/span-ledger.ts";
export type { SpanLossError } from "../otel/setup/span-loss-error.ts";
