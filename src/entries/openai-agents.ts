export type { DecidedBy, ToolDecision } from "../adapters/decided-by.ts";
export type { ProcessorCounts } from "../adapters/openai-agents/counts.ts";
export {
  OpenAIAgentsProcessor,
  type OpenAIAgentsProcessorOptions,
  type RunOutcome,
  type SpanReference,
} from "../adapters/openai-agents/openai-agents-processor.ts";
export type {
  SdkSpan,
  SdkSpanData,
  SdkSpanError,
  SdkTrace,
} from "../adapters/openai-agents/sdk.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
