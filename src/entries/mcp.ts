// `entelix-otel/mcp`: tool calls of the Model Context Protocol, at the client and at the server.

export {
  type AdapterCounts,
  type AdapterOptions,
  type LoneCall,
  type McpCaller,
  type McpClientLike,
  type McpClientOptions,
  type McpCounts,
  type McpServerLike,
  type McpServerOptions,
  type McpTransportLike,
  type McpTransportOptions,
  mcpClient,
  mcpCounts,
  mcpServer,
  mcpTransport,
  type Propagate,
  RUN_META_KEY,
} from "../agents/door.ts";
