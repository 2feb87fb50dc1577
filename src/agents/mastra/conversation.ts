import { type Conversation, inputMessages, outputMessages } from "../../events/door.ts";
import { type Decision, fieldsOf, type KnownPause, listOf, textOf } from "../core/door.ts";
import type { Generation, ModelStep, OpenTool } from "./run-state.ts";

// Mastra shows the full messages of a loop's first request only. Later requests show roles and shortened texts. Their
// messages are rebuilt from the first messages and the turns before.

/** The input of a run as messages: a text, messages, or the input of a workflow. */
export function askedIn(input: unknown): unknown {
  if (input === undefined || input === null || input === "") return undefined;
  return inputMessages(fieldsOf(input)?.messages ?? input);
}

/** The output of a run as messages: a text, an object, or the output of a workflow. */
export function answeredIn(output: unknown, isAgent: boolean): unknown {
  if (output === undefined || output === null) return undefined;
  const fields = isAgent ? fieldsOf(output) : undefined;
  const answer = fields === undefined ? output : (fields.object ?? textOf(fields.text));
  return answer === undefined || answer === null ? undefined : outputMessages(answer, ["stop"]);
}

/** The answer of one turn as messages. */
export function turnOutput(output: unknown, reason: string | undefined): unknown {
  const content = partsIn(output);
  if (content.length === 0) return undefined;
  return outputMessages({ role: "assistant", content }, reason === undefined ? [] : [reason]);
}

function partsIn(output: unknown): readonly unknown[] {
  const fields = fieldsOf(output);
  if (fields === undefined) return [];
  const text = textOf(fields.text);
  const calls = (listOf(fields.toolCalls) ?? []).flatMap((call) => {
    const { args, toolCallId, toolName } = fieldsOf(call) ?? {};
    return [{ type: "tool-call", toolCallId, toolName, input: args }];
  });
  return [...(text === undefined ? [] : [{ type: "text", text }]), ...calls];
}

/** Keeps a tool result for the messages of the next turn. */
export function keepResult(
  step: ModelStep | undefined,
  { tool, toolUseId }: Pick<OpenTool, "tool" | "toolUseId">,
  output: unknown,
): void {
  step?.results.push({ type: "tool-result", toolCallId: toolUseId, toolName: tool, output });
}

/** Adds the answer and the tool results of a turn to the messages of the next turn. */
export function keepTurn(step: ModelStep, output: unknown): void {
  const { generation, results } = step;
  const content = partsIn(output);
  if (content.length > 0) generation.messages.push({ role: "assistant", content });
  if (results.length > 0) generation.messages.push({ role: "tool", content: [...results] });
}

/** The messages of a request, if they are known at its start. */
export function requestAtStart(
  { calls, isFresh, messages }: Generation,
  conversation: Conversation,
): unknown {
  const isFirst = isFresh && calls === 0 && messages.length > 0;
  return isFirst ? conversation.messages(messages) : undefined;
}

/**
 * The messages of an answered request. They are complete if their roles match the preview of Mastra, else the preview
 * is used.
 */
export function requestAtEnd(
  { generation, preview }: ModelStep,
  conversation: Conversation,
): unknown {
  if (preview === undefined || preview.length === 0) return undefined;
  const { messages } = generation;
  const isSame =
    messages.length === preview.length &&
    messages.every((each, index) => fieldsOf(each)?.role === fieldsOf(preview[index])?.role);
  return conversation.messages(isSame ? messages : preview.flatMap(withoutMarks));
}

/** Mastra's marks for calls and results whose content the preview does not have. They do not belong to the text of a message. */
const MARKS = /\[tool(?:-result)?: [^[\]]*\] ?/g;

/** A message of the preview without the marks; none if it has nothing else. */
function withoutMarks(message: unknown): readonly unknown[] {
  const fields = fieldsOf(message);
  const content = textOf(fields?.content);
  if (content === undefined || (fields?.role !== "assistant" && fields?.role !== "tool")) {
    return [message];
  }
  const words = content.replace(MARKS, "").trim();
  return words === "" && content !== "" ? [] : [{ ...fields, content: words }];
}

/**
 * The decision in the input of a resumed run, if a tool call waited for an approval. A tool that paused itself may
 * get the same fields, but its own code reads them.
 */
export function decisionIn(input: unknown, paused: KnownPause | undefined): Decision | undefined {
  if (paused?.details?.isApproval === false) return undefined;
  const given = fieldsOf(input);
  const tool = textOf(given?.toolName);
  const toolUseId = textOf(given?.toolCallId);
  if (tool === undefined || toolUseId === undefined) return undefined;
  if (typeof given?.approved !== "boolean") return undefined;
  return { approved: given.approved, tool, toolUseId, reason: textOf(given.reason) ?? "" };
}

/** The call that waited for an approval. */
export function awaitedIn(
  paused: KnownPause | undefined,
): Pick<Decision, "tool" | "toolUseId"> | undefined {
  const { isApproval, tool, toolUseId } = paused?.details ?? {};
  const [name, id] = [textOf(tool), textOf(toolUseId)];
  if (isApproval !== true || name === undefined || id === undefined) return undefined;
  return { tool: name, toolUseId: id };
}
