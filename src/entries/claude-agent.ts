export { type ClaudeAgent, claudeAgent } from "../agents/claude-agent/claude-agent.ts";
export type {
  ClaudeAgentCounts,
  ClaudeAgentLimits,
  ClaudeAgentOptions,
  QueryDetails,
  QueryMetadata,
} from "../agents/claude-agent/options.ts";
export type { SdkQuery } from "../agents/claude-agent/sdk.ts";
export type { DecidedBy, ToolDecision } from "../agents/core/decided-by.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
