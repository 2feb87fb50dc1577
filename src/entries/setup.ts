export { createSampler } from "../bridge/setup/sampler.ts";
export { setupTracing } from "../bridge/setup/setup-tracing.ts";
export type { LossReason, SpanCounts, SpanLossError } from "../bridge/setup/span-ledger.ts";
export type { Tracing } from "../bridge/setup/tracing.ts";
export type { TracingOptions } from "../bridge/setup/tracing-options.ts";
