// Agents in TypeScript with the package alone: no SDK, and none of the frameworks. Runs of both module
// systems are in one tree, and every adapter can be made from either.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as esmAiSdk from "entelix-otel/ai-sdk";
import * as esmClaude from "entelix-otel/claude-agent";
import * as esmLangchain from "entelix-otel/langchain";
import * as esmMastra from "entelix-otel/mastra";
import * as esmMcp from "entelix-otel/mcp";
import * as esmOpenai from "entelix-otel/openai-agents";
import * as esm from "entelix-otel/runtime";
import { CaptureSink } from "entelix-otel/sinks";

const require = createRequire(import.meta.url);
const cjs = require("entelix-otel/runtime");
const cjsAiSdk = require("entelix-otel/ai-sdk");
const cjsClaude = require("entelix-otel/claude-agent");
const cjsLangchain = require("entelix-otel/langchain");
const cjsMcp = require("entelix-otel/mcp");
const cjsMastra = require("entelix-otel/mastra");
const cjsOpenai = require("entelix-otel/openai-agents");

assert.notEqual(esm.runAgent, cjs.runAgent, "expected two copies");
assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());

for (const [of, outer, inner] of [
  ["CommonJS run in an ESM run", esm, cjs],
  ["ESM run in a CommonJS run", cjs, esm],
]) {
  const sink = new CaptureSink();
  const child = () => inner.runAgent({ agent: "inner" }, () => "found");
  const run = { sink, agent: "outer", tenant: "acme" };
  assert.equal(await outer.runAgent(run, (run) => run.tool("ask", child)), "found");
  const { events } = sink;
  const [started, call, below] = events;
  assert.deepEqual(
    events.map(({ type }) => type),
    ["started", "tool_start", "started", "complete", "tool_complete", "complete"],
  );
  assert.equal(below.parent_run_id, started.run_id);
  assert.equal(below.tenant_id, "acme");
  assert.equal(sink.items[2].envelope.parent_tool_use_id, call.tool_use_id);
  console.log(`${of}: its sub-agent`);
}

for (const { LangChainHandler } of [esmLangchain, cjsLangchain]) {
  assert.equal(new LangChainHandler({ sink: new CaptureSink(), tenant: "acme" }).raiseError, false);
}
for (const { OpenAIAgentsProcessor } of [esmOpenai, cjsOpenai]) {
  await new OpenAIAgentsProcessor({ sink: new CaptureSink(), tenant: "acme" }).shutdown();
}
for (const { AiSdkTelemetry } of [esmAiSdk, cjsAiSdk]) {
  await new AiSdkTelemetry({ sink: new CaptureSink(), tenant: "acme" }).flush();
}
for (const { mcpClient, mcpCounts } of [esmMcp, cjsMcp]) {
  const client = { async connect() {}, callTool: async () => "found", async request() {} };
  assert.equal(await mcpClient(client).callTool({ name: "find_order" }), "found");
  assert.equal(mcpCounts(client).skipped, 1);
}
for (const { claudeAgent } of [esmClaude, cjsClaude]) {
  await claudeAgent({ sink: new CaptureSink(), tenant: "acme" }).flush();
}
for (const { MastraTelemetry } of [esmMastra, cjsMastra]) {
  await new MastraTelemetry({ sink: new CaptureSink(), tenant: "acme" }).flush();
}
console.log("every adapter, from both, without their frameworks");
