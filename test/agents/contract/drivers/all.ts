import type { Driver } from "../driver.ts";
import { aiSdk6, aiSdk7 } from "./ai-sdk.ts";
import { claude } from "./claude-agent.ts";
import { langchain } from "./langchain.ts";
import { mastra } from "./mastra.ts";
import { mcpOfClient, mcpOfServer } from "./mcp.ts";
import { openaiAgents } from "./openai-agents.ts";
import { runtime } from "./runtime.ts";

/** Every adapter, and `runAgent`. */
export const DRIVERS: readonly Driver[] = [
  ...[runtime, langchain, openaiAgents, aiSdk7, aiSdk6, mastra, claude],
  ...[mcpOfClient, mcpOfServer],
];
