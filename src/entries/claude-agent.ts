export { type ClaudeAgent, claudeAgent } from "../adapters/claude-agent/claude-agent.ts";
export type {
  ClaudeAgentCounts,
  ClaudeAgentLimits,
  ClaudeAgentOptions,
  QueryDetails,
  QueryMetadata,
} from "../adapters/claude-agent/options.ts";
export type { SdkQuery } from "../adapters/claude-agent/sdk.ts";
export type { DecidedBy, ToolDecision } from "../adapters/decided-by.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
