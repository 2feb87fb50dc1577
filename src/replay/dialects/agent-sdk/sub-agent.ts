import type { GraphEvent } from "../../../audit/door.ts";
import {
  compareInstants,
  type Instant,
  isWholeNumber,
  numberOf,
  type RunEnd,
  type Signal,
  type SignalAttributes,
  type SignalSubject,
} from "../../../events/door.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";
import type { ToolCallEnd, ToolResult } from "./events.ts";
import type { NotedCall } from "./open-run.ts";
import { SOURCE } from "./reading.ts";
import { movedBack } from "./tool-calls.ts";

/** Upstream's prefix for tools that run a sub-agent. */
const PREFIX = "subagent_";

/** Name of the sub-agent that a tool runs. `undefined` for other tools. */
export function subAgentOf(tool: string): string | undefined {
  const name = tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : "";
  return name === "" ? undefined : name;
}

/** Name of the tool that runs a sub-agent. */
export function toolOf(subAgent: string): string {
  return `${PREFIX}${subAgent}`;
}

/**
 * Signals of a sub-agent's run, made when its tool call ends. Upstream sends no events of the sub-agent, and its
 * progress only after it. A call that was blocked has no sub-agent.
 *
 * @param runId run ID of the sub-agent.
 */
export function subAgentRun(
  event: ToolCallEnd,
  name: string,
  noted: NotedCall | undefined,
  { tenantId, runId: parentRunId, at }: SignalSubject,
  runId: string,
): readonly Signal[] {
  const data = isJsonObject(event.result.data) ? event.result.data : undefined;
  if (data === undefined && !noted?.progress) return [];
  const attributes: SignalAttributes = {
    "entelix.source": SOURCE["entelix.source"],
    "gen_ai.request.model": noted?.childModel,
  };
  const opens: Signal = {
    signal: "run_opens",
    tenantId,
    runId,
    at: startOf(event.result, data, noted, at),
    agent: textIn(data?.name) ?? name,
    parentRunId,
    parentCallId: event.id,
    threadId: noted?.childThreadId,
    attributes,
  };
  const end = endOf(event.result, data, noted);
  return [opens, { signal: "run_closes", tenantId, runId, at, end }];
}

/**
 * The stream for the IDs of a sub-agent's run: its parent's stream and the spawning call. Replaces the sub-agent's
 * thread if upstream names none.
 */
export function childStream(parentStream: string, callId: string): string {
  return `${parentStream}/${callId}`;
}

/** The audit row of a sub-agent's call. */
export function subAgentInvoked(name: string, subThread: string, timestamp: string): GraphEvent {
  return { kind: "sub_agent_invoked", agent_id: name, sub_thread_id: subThread, timestamp };
}

/** Start of the sub-agent: its end minus its duration, but not before its call. */
function startOf(
  result: ToolResult,
  data: JsonObject | undefined,
  noted: NotedCall | undefined,
  at: Instant,
): Instant {
  const earliest = noted?.startedAt;
  const took = isWholeNumber(data?.duration_ms) ? data.duration_ms : result.duration_ms;
  if (took == null) return earliest ?? at;
  const from = movedBack(at, took);
  return earliest !== undefined && compareInstants(from, earliest) < 0 ? earliest : from;
}

function endOf(
  result: ToolResult,
  data: JsonObject | undefined,
  noted: NotedCall | undefined,
): RunEnd {
  const attributes = factsOf(data, noted);
  const success = typeof data?.success === "boolean" ? data.success : result.success;
  if (success) return { outcome: "complete", attributes };
  const message = textIn(data?.error_details) ?? result.output;
  return { outcome: "failed", kind: { type: "unclassified" }, message, attributes };
}

/** Usage of the sub-agent itself. It is not part of its parent's usage. */
function factsOf(data: JsonObject | undefined, noted: NotedCall | undefined): SignalAttributes {
  const usage = isJsonObject(data?.usage) ? data.usage : undefined;
  return {
    "entelix.run.turns": countIn(data?.total_turns),
    "entelix.usage.tool_calls": countIn(data?.tool_count),
    "entelix.usage.input_tokens": countIn(usage?.input_tokens),
    "entelix.usage.output_tokens": countIn(usage?.output_tokens),
    "entelix.usage.cache_read.input_tokens": countIn(usage?.cached_input_tokens),
    "entelix.usage.cache_write.input_tokens": countIn(usage?.cache_creation_input_tokens),
    "entelix.progress.count": noted?.progress || undefined,
  };
}

function countIn(value: JsonObject[string] | undefined): number | undefined {
  return isWholeNumber(value) ? numberOf(value) : undefined;
}

function textIn(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
