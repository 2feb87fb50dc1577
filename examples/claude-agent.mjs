// A prompt of the Claude Agent SDK with a tool of this process and a question to a person, as one tree. It runs the
// SDK's own process, but the model is scripted, so that it needs no key and no network.
//
//   npm install @anthropic-ai/claude-agent-sdk zod
//   node examples/claude-agent.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { claudeAgent } from "entelix-otel/claude-agent";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

const memory = new InMemorySpanExporter();
const tracerProvider = new NodeTracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new SimpleSpanProcessor(memory)],
});

// The adapter follows `query()`. Your hooks, `canUseTool` and MCP servers stay as they are.
const agent = claudeAgent({
  sink: new Bridge({ tracerProvider }),
  tenant: "acme",
  decidedBy: () => "ann",
});

const lookUp = tool("lookup_order", "Looks an order up", { order: z.string() }, async () => ({
  content: [{ type: "text", text: "delivered" }],
}));
const api = await scriptedApi([
  [uses("lookup_order", { order: "17" })],
  [uses("refund", { order: "17" })],
  [{ type: "text", text: "Order 17 was delivered. I may not refund it." }],
]);
const home = mkdtempSync(join(tmpdir(), "claude-agent-"));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: api.url,
  ANTHROPIC_API_KEY: "none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
};
const options = {
  mcpServers: { shop: createSdkMcpServer({ name: "shop", tools: [lookUp, refund()] }) },
  canUseTool: async (name, input) =>
    name === "mcp__shop__refund"
      ? { behavior: "deny", message: "Refunds need a manager." }
      : { behavior: "allow", updatedInput: input },
  model: "claude-sonnet-4-5",
  settingSources: [],
  cwd: home,
  env,
};

for await (const message of agent.query(query, { prompt: "Refund order 17.", options })) {
  if (message.type === "result") console.log(message.result);
}

await agent.flush();
api.close();
rmSync(home, { recursive: true });
printTraces(memory.getFinishedSpans());

function refund() {
  return tool("refund", "Pays an order back", { order: z.string() }, async () => ({ content: [] }));
}

function uses(name, input) {
  return { type: "tool_use", id: `call_${name}`, name: `mcp__shop__${name}`, input };
}

/** The Messages API, with these answers, one after the other. */
async function scriptedApi(answers) {
  const server = createServer((request, response) => {
    request.resume();
    if (!request.url.startsWith("/v1/messages?")) return response.writeHead(404).end("{}");
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, data) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const usage = { input_tokens: 31, output_tokens: 1 };
    const message = { id: `msg_${answers.length}`, role: "assistant", content: [], usage };
    send("message_start", { message: { type: "message", model: options.model, ...message } });
    for (const [index, block] of answers.shift().entries()) {
      const { input, text = "" } = block;
      const empty = input === undefined ? { ...block, text: "" } : { ...block, input: {} };
      send("content_block_start", { index, content_block: empty });
      const json = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      const delta = input === undefined ? { type: "text_delta", text } : json;
      send("content_block_delta", { index, delta });
      send("content_block_stop", { index });
    }
    const stop_reason = answers.length > 0 ? "tool_use" : "end_turn";
    send("message_delta", { delta: { stop_reason }, usage: { output_tokens: 7 } });
    send("message_stop", {});
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
