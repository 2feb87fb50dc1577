export type { LossReason } from "../loss-reason.ts";
export type { SpanCounts } from "../span-ledger.ts";
export type { SpanLossError } from "../span-loss-error.ts";
export type { ProcessTelemetry } from "./process-telemetry.ts";
export { setupTelemetry } from "./setup-telemetry.ts";
export type { MetricReaderLike, TelemetrySetupOptions } from "./telemetry-options.ts";
