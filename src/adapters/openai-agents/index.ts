export type { ProcessorCounts } from "./counts.ts";
export {
  OpenAIAgentsProcessor,
  type OpenAIAgentsProcessorOptions,
  type RunOutcome,
  type SpanReference,
} from "./openai-agents-processor.ts";
export type { SdkSpan, SdkSpanData, SdkSpanError, SdkTrace } from "./sdk.ts";
