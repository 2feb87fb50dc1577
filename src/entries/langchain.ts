export {
  type AdapterOptions,
  type DecidedBy,
  type HandlerCounts,
  type HandlerLimits,
  inSpan,
  LangChainHandler,
  type LangChainHandlerOptions,
  type PausedRun,
  type PausedRuns,
  type Price,
  type PricedCall,
  type ToolDecision,
} from "../agents/door.ts";
