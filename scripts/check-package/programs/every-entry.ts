// Every entry's types at once, and a reader of a channel: what a compiler must be able to read of the package.
import type { AgentEvent } from "entelix-otel";
import type { ChannelSink } from "entelix-otel/sinks";

export * as main from "entelix-otel";
export * as aiSdk from "entelix-otel/ai-sdk";
export * as audit from "entelix-otel/audit";
export * as claudeAgent from "entelix-otel/claude-agent";
export * as context from "entelix-otel/context";
export * as events from "entelix-otel/events";
export * as langchain from "entelix-otel/langchain";
export * as mastra from "entelix-otel/mastra";
export * as mcp from "entelix-otel/mcp";
export * as openAiAgents from "entelix-otel/openai-agents";
export * as postgres from "entelix-otel/postgres";
export * as prices from "entelix-otel/prices";
export * as register from "entelix-otel/register";
export * as replay from "entelix-otel/replay";
export * as runtime from "entelix-otel/runtime";
export * as setup from "entelix-otel/setup";
export * as sinks from "entelix-otel/sinks";
export * as telemetry from "entelix-otel/telemetry";

export async function readAll(channel: ChannelSink): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event } of channel.receiver) events.push(event);
  return events;
}
