import { MOST_NAME } from "../../events/door.ts";
import { fieldsOf, type KnownPause, listOf, textOf } from "../core/door.ts";
import { nameOf } from "./llm-result.ts";

// Reads data of the invocation from a callback's arguments.

/** Whether a chain is a compiled graph of LangGraph. Each graph is an agent. */
export function isGraph(serialized: unknown): boolean {
  const id = listOf(fieldsOf(serialized)?.id);
  return id !== undefined && id[0] === "langgraph" && id[1] === "pregel";
}

/** The agent's name of a run: the known name, else the run name, else the class. */
export function agentName(serialized: unknown, runName: unknown, known?: string): string {
  return known ?? textOf(runName) ?? nameOf(fieldsOf(serialized)) ?? "chain";
}

/** The agent name that `createAgent` sets. Everything below inherits the metadata. */
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
  return textOf(fields?.name) ?? nameOf(fields) ?? "tool";
}

/** The tool's description, if LangChain serialized it. */
export function toolDescription(serialized: unknown): string | undefined {
  const fields = fieldsOf(serialized);
  const text = textOf(fields?.description) ?? textOf(fieldsOf(fields?.kwargs)?.description);
  return text?.slice(0, MOST_NAME);
}

/** The input of a tool. LangChain passes it as JSON text. */
export function toolInput(text: unknown): unknown {
  if (typeof text !== "string" || (!text.startsWith("{") && !text.startsWith("["))) return text;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** The output of a tool, without LangChain's message around it. */
export function toolOutput(output: unknown): unknown {
  const fields = fieldsOf(output);
  return fields !== undefined && "tool_call_id" in fields ? fields.content : output;
}

/** The thread ID. In LangGraph's configuration, it may be a number. */
export function threadOf(metadata: unknown): string | undefined {
  const thread = fieldsOf(metadata)?.thread_id;
  return typeof thread === "number" ? String(thread) : textOf(thread);
}

/**
 * Whether the input resumes the paused graph: it is a `Command`, or there is none. Other inputs start a new run on
 * the same thread. So does another checkpoint.
 */
export function isResumption(inputs: unknown, metadata: unknown, paused: KnownPause): boolean {
  const checkpointId = textOf(fieldsOf(metadata)?.checkpoint_id);
  if (checkpointId !== undefined && checkpointId !== paused.details?.checkpointId) return false;
  return continues(inputs);
}

/** Whether a graph with this input goes on from its checkpoint. */
export function continues(inputs: unknown): boolean {
  const fields = fieldsOf(inputs);
  return fields === undefined || fields.lg_name === "Command" || fields.input === null;
}
