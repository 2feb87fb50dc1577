const BRIDGE = `import { Bridge } from "entelix-otel";
const options = { sink: new Bridge(), tenant: "acme" };
`;

const LANGCHAIN = `import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";
${BRIDGE}
const handler = new LangChainHandler(options);
// @ts-expect-error: there is no sink.
new LangChainHandler({ tenant: "acme" });
const agent = createReactAgent({ llm: new FakeListChatModel({ responses: ["hi"] }), tools: [] });
await agent.invoke({ messages: [] }, { callbacks: [handler] });
`;

const OPENAI_AGENTS = `import { addTraceProcessor, Agent, run, setTraceProcessors } from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
${BRIDGE}
const processor = new OpenAIAgentsProcessor(options);
setTraceProcessors([processor]);
addTraceProcessor(processor);
const agent = new Agent({ name: "support" });
const result = processor.noteResult(await run(agent, "hi"));
await run(agent, processor.noteState(result.state));
`;

const AI_SDK = `import { generateText, type LanguageModel, registerTelemetry, streamText } from "ai";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
${BRIDGE}
declare const model: LanguageModel;
const telemetry = new AiSdkTelemetry(options);
registerTelemetry(telemetry);
await generateText({ model, prompt: "hi", telemetry: { functionId: "support", integrations: telemetry } });
const response: Response = await telemetry.respond((abortSignal) =>
  streamText({ model, prompt: "hi", abortSignal }).toUIMessageStreamResponse(),
);
`;

const AI_SDK_6 = `import { generateText, type LanguageModel, streamText } from "ai";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
${BRIDGE}
declare const model: LanguageModel;
const { tracer } = new AiSdkTelemetry(options);
const experimental_telemetry = { isEnabled: true, tracer, integrations: tracer };
await generateText({ model, prompt: "hi", experimental_telemetry });
streamText({ model, prompt: "hi", experimental_telemetry });
`;

const MASTRA = `import { Mastra } from "@mastra/core";
import { Observability } from "@mastra/observability";
import { MastraTelemetry } from "entelix-otel/mastra";
${BRIDGE}
const telemetry = new MastraTelemetry(options);
new Mastra({
  observability: new Observability({
    configs: {
      one: { serviceName: "support", bridge: telemetry },
      two: { serviceName: "support", exporters: [telemetry] },
    },
  }),
});
`;

const CLAUDE_AGENT = `import { query, type SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { claudeAgent } from "entelix-otel/claude-agent";
${BRIDGE}
const agent = claudeAgent(options);
const stream = agent.query(query, { prompt: "hi", options: { maxTurns: 3 } });
for await (const message of stream) {
  const read: SDKMessage = message;
  if (read.type === "result") await stream.interrupt();
}
`;

const MCP = (client: string, server: string) => `import { Client } from "${client}";
import { McpServer } from "${server}";
import { mcpClient, mcpServer } from "entelix-otel/mcp";
${BRIDGE}
const shop: McpServer = mcpServer(new McpServer({ name: "shop", version: "1.0.0" }), options);
const client: Client = mcpClient(new Client({ name: "support", version: "1.0.0" }), options);
shop.registerTool("look", { description: "looks" }, async () => ({ content: [] }));
const { content } = await client.callTool({ name: "look", arguments: {} });
export { content };
`;

/** A program for each framework, and the installation beside which it must compile. */
export const TYPED: readonly { readonly server: string; readonly program: string }[] = [
  { server: "langchain-newest", program: LANGCHAIN },
  { server: "openai-agents-newest", program: OPENAI_AGENTS },
  { server: "ai-sdk-newest", program: AI_SDK },
  { server: "ai-sdk-6-newest", program: AI_SDK_6 },
  { server: "mastra-newest", program: MASTRA },
  { server: "claude-agent", program: CLAUDE_AGENT },
  {
    server: "mcp-newest",
    program: MCP(
      "@modelcontextprotocol/sdk/client/index.js",
      "@modelcontextprotocol/sdk/server/mcp.js",
    ),
  },
  {
    server: "mcp-newest",
    program: MCP("@modelcontextprotocol/client", "@modelcontextprotocol/server"),
  },
];
