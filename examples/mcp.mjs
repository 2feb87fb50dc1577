import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { mcpClient, mcpServer } from "entelix-otel/mcp";
import { runAgent } from "entelix-otel/runtime";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "shop" });
const sink = telemetry.createBridge({ captureContent: true }); // shows texts: off by default

// The server: each call is a run. `trust`: its only caller is this process, which names the run.
const orders = new McpServer({ name: "orders", version: "1.0.0" });
const server = mcpServer(orders, { sink, tenant: "acme", trust: true });
server.registerTool("find_order", { description: "Finds an order." }, async () => ({
  content: [{ type: "text", text: "Order 17 is on its way." }],
}));

// The client: a call inside a run is a tool call of the run.
const client = mcpClient(new Client({ name: "support", version: "1.0.0" }));
const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(far);
await client.connect(near);

try {
  const agent = { sink, agent: "support", tenant: "acme", input: "Where is order 17?" };
  const answer = await runAgent(agent, async () => {
    const { content } = await client.callTool({ name: "find_order", arguments: {} });
    return content[0].text;
  });
  console.log(answer);
} finally {
  await client.close();
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}
