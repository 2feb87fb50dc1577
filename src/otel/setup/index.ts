export type { LossReason } from "./loss-reason.ts";
export { createSampler } from "./sampler.ts";
export { setupTracing } from "./setup-tracing.ts";
export type { SpanCounts } from "./span-ledger.ts";
export type { SpanLossError } from "./span-loss-error.ts";
export type { Tracing } from "./tracing.ts";
export type { TracingOptions } from "./tracing-options.ts";
