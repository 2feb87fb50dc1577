import {
  type EventDetails,
  type InputMessage,
  type OutputMessage,
  outputMessages,
} from "../../events/door.ts";
import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, TraceRecord } from "./trace-record.ts";

// Agent spans have no input and output, so both come from the agent's model calls: the newest user message of the
// first call, and the last answer. A run keeps them until its end is sent.

/** Keeps the input of an agent's first model call. */
export function noteQuestion(
  { root }: TraceRecord,
  run: AgentRun,
  messages: readonly InputMessage[],
): void {
  const question = newestQuestion(messages);
  run.question = question;
  if (run.top && root !== undefined) root.question ??= question;
}

/** Keeps the last answer of an agent's model. */
export function noteAnswer(
  { root }: TraceRecord,
  run: AgentRun,
  messages: readonly OutputMessage[],
): void {
  run.answer = messages;
  if (run.top && root !== undefined) root.answer = messages;
}

/** The content details of a run's end. Removes them from the run. */
export function contentOf(
  run: AgentRun,
  waiting?: readonly Pick<AskedCall, "id" | "tool" | "input">[],
): EventDetails | undefined {
  const { answer, question } = run;
  run.question = undefined;
  run.answer = undefined;
  const output = waiting === undefined ? answer : asking(waiting);
  if (question === undefined && output === undefined) return undefined;
  return {
    ...(question === undefined ? {} : { input: question }),
    ...(output === undefined ? {} : { output }),
  };
}

/** The question of a paused run: the calls that wait for approval. */
function asking(
  waiting: readonly Pick<AskedCall, "id" | "tool" | "input">[],
): readonly OutputMessage[] | undefined {
  if (waiting.length === 0) return undefined;
  const calls = waiting.map(({ id, tool, input }) => ({
    type: "function_call",
    callId: id,
    name: tool,
    arguments: input,
  }));
  return outputMessages(calls, ["tool_call"]);
}

function newestQuestion(messages: readonly InputMessage[]): readonly InputMessage[] | undefined {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last < 0) return undefined;
  const before = messages.slice(0, last).findLastIndex(({ role }) => role !== "user");
  return messages.slice(before + 1, last + 1);
}
