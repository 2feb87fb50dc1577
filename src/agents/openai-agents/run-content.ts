import {
  type EventDetails,
  type InputMessage,
  type OutputMessage,
  outputMessages,
} from "../../events/door.ts";
import type { AskedCall } from "./span-answer.ts";
import type { AgentRun, TraceRecord } from "./trace-record.ts";

// No agent's span says what the agent was asked and what it answered. Its model calls do: the newest message
// of the user in the first one, and the last answer. A run has them until its end is sent.

/** A model call of an agent has begun, or says only at its end what was asked. */
export function noteQuestion(
  { root }: TraceRecord,
  run: AgentRun,
  messages: readonly InputMessage[],
): void {
  const question = newestQuestion(messages);
  run.question = question;
  if (run.top && root !== undefined) root.question ??= question;
}

/** A model has answered an agent. */
export function noteAnswer(
  { root }: TraceRecord,
  run: AgentRun,
  messages: readonly OutputMessage[],
): void {
  run.answer = messages;
  if (run.top && root !== undefined) root.answer = messages;
}

/** The details of a run's end; the run lets go of them. */
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

/** What a paused run asks: may these calls be made? */
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
