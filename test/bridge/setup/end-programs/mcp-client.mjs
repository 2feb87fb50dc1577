// A client that starts the server of `mcp-server.mjs`, and ends it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mcpClient } from "entelix-otel/mcp";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";

const tracing = setupTracing({ serviceName: "shop" });
const sink = tracing.createBridge();
const client = mcpClient(new Client({ name: "support", version: "1.0.0" }));
const args = [new URL("mcp-server.mjs", import.meta.url).pathname];
await client.connect(
  new StdioClientTransport({ command: process.execPath, args, env: process.env }),
);
await runAgent({ sink, agent: "support", tenant: "acme" }, async () => {
  const { content } = await client.callTool({ name: "find_order", arguments: {} });
  console.log(content[0].text);
});
await client.close();
await tracing.shutdown();
