export type { DecidedBy, ToolDecision } from "../agents/core/decided-by.ts";
export type { ProcessorCounts } from "../agents/openai-agents/counts.ts";
export {
  OpenAIAgentsProcessor,
  type OpenAIAgentsProcessorOptions,
  type RunOutcome,
  type SpanReference,
} from "../agents/openai-agents/openai-agents-processor.ts";
export type {
  SdkSpan,
  SdkSpanData,
  SdkSpanError,
  SdkTrace,
} from "../agents/openai-agents/sdk.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
