// A run that calls a tool of an MCP server, as one tree. Client and server
// are in one process here. For a server in a process of its own, replace the linked transports.
//
//   node examples/mcp.mjs
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { mcpClient, mcpServer } from "entelix-otel/mcp";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";
import { printTraces } from "./span-tree.mjs";

process.env.OTEL_TRACES_EXPORTER = "none";
const memory = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(memory)];
const tracing = setupTracing({ serviceName: "shop", spanProcessors });
const sink = tracing.createBridge();

// The server: each call is a run. Its only caller is this process, so it may say where the run belongs.
const orders = mcpServer(new McpServer({ name: "orders", version: "1.0.0" }), {
  sink,
  tenant: "acme",
  trust: true,
});
orders.registerTool("find_order", { description: "Finds an order." }, async () => ({
  content: [{ type: "text", text: "Order 17 is on its way." }],
}));

// The client: a call inside a run is a tool call of the run.
const client = mcpClient(new Client({ name: "support", version: "1.0.0" }));
const [near, far] = InMemoryTransport.createLinkedPair();
await orders.connect(far);
await client.connect(near);

try {
  await runAgent({ sink, agent: "support", tenant: "acme" }, async () => {
    const { content } = await client.callTool({ name: "find_order", arguments: {} });
    console.log(content[0].text);
  });
} finally {
  await client.close();
  printTraces(memory.getFinishedSpans());
  await tracing.shutdown();
}
