export { LangChainHandler } from "./handler.ts";
export type { HandlerCounts, HandlerLimits, LangChainHandlerOptions } from "./handler-options.ts";
export { inSpan } from "./in-span.ts";
