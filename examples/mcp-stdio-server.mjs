import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { mcpServer } from "entelix-otel/mcp";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "orders" });
const orders = new McpServer({ name: "orders", version: "1.0.0" });
const sink = telemetry.createBridge();
const server = mcpServer(orders, { sink, tenant: "acme", trust: true });
server.registerTool("find_order", { description: "Finds an order." }, async () => ({
  content: [{ type: "text", text: "Order 17 is on its way." }],
}));
await server.connect(new StdioServerTransport());
