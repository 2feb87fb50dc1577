import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { type ClaudeAgentOptions, claudeAgent } from "../../../src/entries/claude-agent.ts";
import type { InnerSink } from "../../../src/entries/sinks.ts";
import { type AgentEvent, Bridge } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { type Told, toldOf, treeLines } from "../../support/told.ts";
import { type Script, type ScriptedParams, scripted } from "./scripted-sdk.ts";

/** An adapter whose sink keeps every event and hands it on to a bridge. */
export function observe(options: Partial<ClaudeAgentOptions> = {}) {
  const collected = collectSpans();
  const errors: unknown[] = [];
  const log = new MemorySessionLog();
  const bridge = new Bridge({
    tracerProvider: collected.provider,
    captureContent: true,
    audit: log,
  });
  const told: Told[] = [];
  const sink: InnerSink & Pick<Bridge, "withSpan" | "runContext"> = {
    send(event, envelope = {}) {
      told.push({ event, envelope });
      return bridge.send(event, envelope);
    },
    withSpan: (place, work) => bridge.withSpan(place, work),
    runContext: (...run) => bridge.runContext(...run),
    forceFlush: () => bridge.forceFlush(),
  };
  const agent = claudeAgent({
    sink,
    tenant: "acme",
    onError: (error) => void errors.push(error),
    ...options,
  });
  return {
    agent,
    sink,
    bridge,
    log,
    told,
    errors,
    lines: () => told.map(({ event }) => lineOf(event)),
    of: <T extends AgentEvent["type"]>(type: T) => toldOf(told, type),
    spans: () => collected.spans(),
    ended: () => [...collected.ended.values()],
    started: () => collected.started.size,
    trees: () => toTrees(collected.spans()),
    tree: () => toTrees(collected.spans()).flatMap((node) => treeLines(node)),
    find: (name: string) => collected.spans().find((span) => span.name === name),
  };
}

/** Reads one query to its end. */
export async function play(
  seen: ReturnType<typeof observe>,
  script: Script,
  params: Partial<ScriptedParams> = {},
  details?: Parameters<(typeof seen)["agent"]["query"]>[2],
) {
  const { processes, query } = scripted(script);
  const messages: unknown[] = [];
  let thrown: unknown;
  try {
    const stream = seen.agent.query(query, { prompt: "hi", ...params }, details);
    for await (const message of stream) messages.push(message);
  } catch (error) {
    thrown = error;
  }
  await seen.agent.flush();
  return { messages, thrown, process: processes[0] };
}

/** Prompts in the streaming input mode, which the scripts do not read. */
export async function* prompts(): AsyncGenerator<unknown> {}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case "started":
      return `started ${event.agent}`;
    case "failed":
      return `failed ${event.kind?.type}: ${event.error}`;
    case "interrupted":
      return `interrupted ${event.kind.type}`;
    case "tool_start":
    case "tool_complete":
    case "tool_call_asked":
    case "tool_call_approved":
    case "tool_call_denied":
      return `${event.type} ${event.tool} ${event.tool_use_id}`;
    case "tool_error":
      return `tool_error ${event.tool} ${event.tool_use_id} ${event.envelope.wire_code}`;
    case "model_start":
    case "model_complete":
      return `${event.type} ${event.model}`;
    case "model_error":
      return `model_error ${event.model} ${event.kind.type}`;
    case "step_start":
    case "step_complete":
    case "step_error":
      return `${event.type} ${event.step}`;
    default:
      return event.type;
  }
}
