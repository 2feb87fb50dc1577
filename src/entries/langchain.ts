export type { DecidedBy, ToolDecision } from "../adapters/decided-by.ts";
export { LangChainHandler } from "../adapters/langchain/handler.ts";
export type {
  HandlerCounts,
  HandlerLimits,
  LangChainHandlerOptions,
} from "../adapters/langchain/handler-options.ts";
export { inSpan } from "../adapters/langchain/in-span.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
