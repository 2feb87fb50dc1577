// The MCP server of `ai-sdk-mcp-agent.mjs`. Its handler asks an HTTP service. The argument is its URL.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { mcpServer } from "entelix-otel/mcp";
import { setupTracing } from "entelix-otel/setup";

const tracing = setupTracing({ serviceName: "orders" });
// Spans of `fetch`, by the provider that `setupTracing` has registered.
new UndiciInstrumentation({ requireParentforSpans: true }).enable();

const sink = tracing.createBridge();
// Its one caller is the process that started it.
const server = mcpServer(new McpServer({ name: "orders", version: "1.0.0" }), {
  sink,
  tenant: "acme",
  trust: true,
});
const inputSchema = fromJsonSchema({ type: "object", properties: { id: { type: "number" } } });
server.registerTool("orders_find", { description: "Finds an order.", inputSchema }, async () => {
  const response = await fetch(process.argv[2]);
  return { content: [{ type: "text", text: await response.text() }] };
});
await server.connect(new StdioServerTransport());
process.stdin.once("end", async () => {
  await tracing.shutdown();
  process.exit();
});
