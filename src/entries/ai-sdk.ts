// `entelix-otel/ai-sdk`: for the AI SDK.

export type {
  AiSdkCall,
  AiSdkCounts,
  AiSdkTelemetryOptions,
  PausedRun,
  PausedRuns,
} from "../adapters/ai-sdk/options.ts";
export type { AiSdkSpan } from "../adapters/ai-sdk/recorded-span.ts";
export { AiSdkTelemetry } from "../adapters/ai-sdk/telemetry.ts";
export type { AiSdkTracer } from "../adapters/ai-sdk/tracer.ts";
export type { DecidedBy, ToolDecision } from "../adapters/decided-by.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
