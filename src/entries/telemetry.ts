export {
  type LoggerLike,
  type LoggerProviderLike,
  type LogRecordLike,
  type LossReason,
  type MetricReaderLike,
  type ProcessTelemetry,
  type ProgressOptions,
  type SpanCounts,
  type SpanLossError,
  setupTelemetry,
  type TelemetrySetupOptions,
} from "../bridge/door.ts";
