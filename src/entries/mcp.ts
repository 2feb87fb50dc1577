// `entelix-otel/mcp`: tool calls of the Model Context Protocol, at the client and at the server.

export type { LoneCall, McpClientOptions } from "../agents/mcp/client-options.ts";
export type { McpCounts } from "../agents/mcp/counts.ts";
export { type McpClientLike, mcpClient } from "../agents/mcp/mcp-client.ts";
export { type McpServerLike, mcpServer } from "../agents/mcp/mcp-server.ts";
export {
  type McpTransportLike,
  type McpTransportOptions,
  mcpTransport,
} from "../agents/mcp/mcp-transport.ts";
export { type Propagate, RUN_META_KEY } from "../agents/mcp/meta.ts";
export { mcpCounts } from "../agents/mcp/reporter.ts";
export type { McpCaller, McpServerOptions } from "../agents/mcp/server-options.ts";
