export { createSampler } from "../otel/setup/sampler.ts";
export { setupTracing } from "../otel/setup/setup-tracing.ts";
export type { LossReason, SpanCounts, SpanLossError } from "../otel/setup/span-ledger.ts";
export type { Tracing } from "../otel/setup/tracing.ts";
export type { TracingOptions } from "../otel/setup/tracing-options.ts";
