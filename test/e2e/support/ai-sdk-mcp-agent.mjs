// An agent of the AI SDK whose tool calls an MCP server in a process of its own. Argument: the URL that the server's
// handler asks. Prints the trace ID.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { generateText, isStepCount, registerTelemetry, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { mcpClient } from "entelix-otel/mcp";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";

const tracing = setupTracing({ serviceName: "agent" });
const telemetry = new AiSdkTelemetry({ sink: tracing.createBridge(), tenant: "acme" });
registerTelemetry(telemetry);

const client = mcpClient(new Client({ name: "support", version: "1.0.0" }));
const args = ["ai-sdk-mcp-server.mjs", process.argv[2]];
const env = { ...process.env };
await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));

const find_order = tool({
  inputSchema: z.object({ id: z.number() }),
  execute: async ({ id }) => {
    const { content } = await client.callTool({ name: "orders_find", arguments: { id } });
    return content[0].text;
  },
});
const answers = [
  [
    {
      type: "tool-call",
      toolCallId: "c1",
      toolName: "find_order",
      input: JSON.stringify({ id: 17 }),
    },
  ],
  [{ type: "text", text: "It is on its way." }],
];
const model = new MockLanguageModelV4({
  modelId: "small-1",
  async doGenerate() {
    const content = answers.shift();
    const unified = content[0].type === "text" ? "stop" : "tool-calls";
    const usage = { inputTokens: { total: 31 }, outputTokens: { total: 7 } };
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
  },
});
const { text } = await generateText({
  model,
  tools: { find_order },
  prompt: "Where is order 17?",
  stopWhen: isStepCount(3),
  telemetry: { functionId: "support" },
});
await client.close();
await tracing.shutdown();
console.log(JSON.stringify({ text }));
