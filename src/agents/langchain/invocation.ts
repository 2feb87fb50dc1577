import { MOST_NAME } from "../../events/door.ts";
import { fieldsOf, listOf, textOf } from "../core/narrow.ts";
import { classOf } from "./llm-result.ts";
import type { PausedRun } from "./pauses.ts";

// What a callback's arguments say about the invocation.

/** Whether a chain is a compiled graph of LangGraph's: an agent of its own, wherever it runs. */
export function isGraph(serialized: unknown): boolean {
  const id = listOf(fieldsOf(serialized)?.id);
  return id !== undefined && id[0] === "langgraph" && id[1] === "pregel";
}

/** What the run is called: the name of its agent, else the run name or the graph's, else the class. */
export function agentName(serialized: unknown, runName: unknown, known?: string): string {
  return known ?? textOf(runName) ?? classOf(fieldsOf(serialized)) ?? "chain";
}

/** The name that `createAgent` gives its agent. Metadata is inherited by everything below. */
export function namedAgent(metadata: unknown): string | undefined {
  return textOf(fieldsOf(metadata)?.lc_agent_name);
}

export function toolName(
  serialized: unknown,
  runName: unknown,
  askedFor: string | undefined,
): string {
  const known = textOf(runName) ?? askedFor;
  if (known !== undefined) return known;
  const fields = fieldsOf(serialized);
  return textOf(fields?.name) ?? classOf(fields) ?? "tool";
}

/** What a tool is for, where it was serialized with that. */
export function toolDescription(serialized: unknown): string | undefined {
  const fields = fieldsOf(serialized);
  const text = textOf(fields?.description) ?? textOf(fieldsOf(fields?.kwargs)?.description);
  return text?.slice(0, MOST_NAME);
}

/** The input of a tool, which LangChain hands over as JSON text, whatever it was. */
export function toolInput(text: unknown): unknown {
  if (typeof text !== "string" || (!text.startsWith("{") && !text.startsWith("["))) return text;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** What a tool gave, without the message that LangChain wraps it in. */
export function toolOutput(output: unknown): unknown {
  const fields = fieldsOf(output);
  return fields !== undefined && "tool_call_id" in fields ? fields.content : output;
}

/** The thread, which may be a number in LangGraph's configuration. */
export function threadOf(metadata: unknown): string | undefined {
  const thread = fieldsOf(metadata)?.thread_id;
  return typeof thread === "number" ? String(thread) : textOf(thread);
}

/**
 * Whether a graph is asked to go on where it paused: with a `Command`, or with nothing. Any other
 * input begins anew on the same thread, and from another checkpoint of it nothing goes on.
 */
export function isResumption(inputs: unknown, metadata: unknown, paused: PausedRun): boolean {
  const checkpointId = textOf(fieldsOf(metadata)?.checkpoint_id);
  if (checkpointId !== undefined && checkpointId !== paused.checkpointId) return false;
  const fields = fieldsOf(inputs);
  return fields === undefined || fields.lg_name === "Command" || fields.input === null;
}
