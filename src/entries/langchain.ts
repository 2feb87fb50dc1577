export {
  type DecidedBy,
  type HandlerCounts,
  type HandlerLimits,
  inSpan,
  LangChainHandler,
  type LangChainHandlerOptions,
  type Price,
  type PricedCall,
  type ToolDecision,
} from "../agents/door.ts";
