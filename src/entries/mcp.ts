// `entelix-otel/mcp`: tool calls of the Model Context Protocol, at the client and at the server.

export type { LoneCall, McpClientOptions } from "../adapters/mcp/client-options.ts";
export type { McpCounts } from "../adapters/mcp/counts.ts";
export { type McpClientLike, mcpClient } from "../adapters/mcp/mcp-client.ts";
export { type McpServerLike, mcpServer } from "../adapters/mcp/mcp-server.ts";
export {
  type McpTransportLike,
  type McpTransportOptions,
  mcpTransport,
} from "../adapters/mcp/mcp-transport.ts";
export { type Propagate, RUN_META_KEY } from "../adapters/mcp/meta.ts";
export { mcpCounts } from "../adapters/mcp/reporter.ts";
export type { McpCaller, McpServerOptions } from "../adapters/mcp/server-options.ts";
