// `entelix-otel/ai-sdk`: for the AI SDK.

export type {
  AiSdkCall,
  AiSdkCounts,
  AiSdkTelemetryOptions,
  PausedRun,
  PausedRuns,
} from "../agents/ai-sdk/options.ts";
export type { AiSdkSpan } from "../agents/ai-sdk/recorded-span.ts";
export { AiSdkTelemetry } from "../agents/ai-sdk/telemetry.ts";
export type { AiSdkTracer } from "../agents/ai-sdk/tracer.ts";
export type { DecidedBy, ToolDecision } from "../agents/core/decided-by.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
