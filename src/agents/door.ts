// The door of `agents`: the runtime and the adapters. See ROOM.md.

export type {
  AiSdkCall,
  AiSdkCounts,
  AiSdkTelemetryOptions,
} from "./ai-sdk/options.ts";
export type { AiSdkSpan } from "./ai-sdk/recorded-span.ts";
export { AiSdkTelemetry } from "./ai-sdk/telemetry.ts";
export type { AiSdkTracer } from "./ai-sdk/tracer.ts";
export { type ClaudeAgent, claudeAgent } from "./claude-agent/claude-agent.ts";
export type {
  ClaudeAgentCounts,
  ClaudeAgentLimits,
  ClaudeAgentOptions,
  QueryDetails,
  QueryMetadata,
} from "./claude-agent/options.ts";
export type { SdkQuery } from "./claude-agent/sdk.ts";
export type {
  AdapterCounts,
  AdapterOptions,
  DecidedBy,
  PausedRun,
  PausedRuns,
  ToolDecision,
} from "./core/door.ts";
export { LangChainHandler } from "./langchain/handler.ts";
export type {
  HandlerCounts,
  HandlerLimits,
  LangChainHandlerOptions,
} from "./langchain/handler-options.ts";
export { inSpan } from "./langchain/in-span.ts";
export { MastraTelemetry } from "./mastra/mastra-telemetry.ts";
export type { MastraCounts, MastraRun, MastraTelemetryOptions } from "./mastra/options.ts";
export type { LoneCall, McpClientOptions } from "./mcp/client-options.ts";
export { type McpClientLike, mcpClient } from "./mcp/mcp-client.ts";
export { type McpServerLike, mcpServer } from "./mcp/mcp-server.ts";
export {
  type McpTransportLike,
  type McpTransportOptions,
  mcpTransport,
} from "./mcp/mcp-transport.ts";
export { type Propagate, RUN_META_KEY } from "./mcp/meta.ts";
export { type McpCounts, mcpCounts } from "./mcp/reporter.ts";
export type { McpCaller, McpServerOptions } from "./mcp/server-options.ts";
export type { ProcessorCounts } from "./openai-agents/counts.ts";
export {
  OpenAIAgentsProcessor,
  type OpenAIAgentsProcessorOptions,
  type RunOutcome,
  type SpanReference,
} from "./openai-agents/openai-agents-processor.ts";
export type { SdkSpan, SdkSpanData, SdkSpanError, SdkTrace } from "./openai-agents/sdk.ts";
export { register, registerSettings, unknownVariables } from "./register/register.ts";
export {
  type AgentRun,
  type ApprovalDecision,
  type Approve,
  type BudgetLimits,
  type FailedTool,
  type Interruption,
  interrupt,
  isInterruption,
  isRunEnded,
  isToolDenied,
  type ModelCall,
  type ModelFunction,
  type ModelOptions,
  type ModelReport,
  type PendingTool,
  type Price,
  type PricedCall,
  type RecordedDecision,
  RunEndedError,
  type RunHandle,
  RunNotCompletedError,
  type RunOptions,
  type RunSubject,
  runAgent,
  type StepFunction,
  type StepOptions,
  startRun,
  type TerminalToolErrors,
  type ToolCall,
  ToolDeniedError,
  type ToolFunction,
  type ToolOptions,
} from "./runtime/door.ts";
