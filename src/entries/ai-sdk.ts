// `entelix-otel/ai-sdk`: for the AI SDK.

export {
  type AdapterCounts,
  type AdapterOptions,
  type AiSdkCall,
  type AiSdkCounts,
  type AiSdkSpan,
  AiSdkTelemetry,
  type AiSdkTelemetryOptions,
  type AiSdkTracer,
  type DecidedBy,
  type PausedRun,
  type PausedRuns,
  type Price,
  type PricedCall,
  type ToolDecision,
} from "../agents/door.ts";
