export {
  type ClaudeAgent,
  type ClaudeAgentCounts,
  type ClaudeAgentLimits,
  type ClaudeAgentOptions,
  claudeAgent,
  type DecidedBy,
  type Price,
  type PricedCall,
  type QueryDetails,
  type QueryMetadata,
  type SdkQuery,
  type ToolDecision,
} from "../agents/door.ts";
