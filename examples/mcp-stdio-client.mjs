import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mcpClient } from "entelix-otel/mcp";
import { runAgent } from "entelix-otel/runtime";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "shop" });
const sink = telemetry.createBridge({ captureContent: true }); // shows texts: off by default
const client = mcpClient(new Client({ name: "support", version: "1.0.0" }));
const server = { command: process.execPath, args: ["mcp-stdio-server.mjs"] };
// By default, the SDK passes no `OTEL_…` variables on.
await client.connect(new StdioClientTransport({ ...server, env: process.env }));

try {
  const agent = { sink, agent: "support", tenant: "acme", input: "Where is order 17?" };
  const answer = await runAgent(agent, async () => {
    const { content } = await client.callTool({ name: "find_order", arguments: {} });
    return content[0].text;
  });
  console.log(answer);
} finally {
  await client.close();
  await telemetry.shutdown();
}
