// A server over stdio. It has no code at its end.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { mcpServer } from "entelix-otel/mcp";
import { setupTracing } from "entelix-otel/setup";

const tracing = setupTracing({ serviceName: "orders" });
const options = { sink: tracing.createBridge(), tenant: "acme", trust: true };
const server = mcpServer(new McpServer({ name: "orders", version: "1.0.0" }), options);
server.registerTool("find_order", { description: "Finds an order." }, async () => ({
  content: [{ type: "text", text: "Order 17 is on its way." }],
}));
await server.connect(new StdioServerTransport());
