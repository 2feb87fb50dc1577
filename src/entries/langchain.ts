export type { DecidedBy, ToolDecision } from "../agents/core/decided-by.ts";
export { LangChainHandler } from "../agents/langchain/handler.ts";
export type {
  HandlerCounts,
  HandlerLimits,
  LangChainHandlerOptions,
} from "../agents/langchain/handler-options.ts";
export { inSpan } from "../agents/langchain/in-span.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
