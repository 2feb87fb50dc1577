import { outputMessages } from "../../events/door.ts";
import { type Decision, type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";

/** An approval request in a model's answer, or in the messages of a later call. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly toolUseId: string;
  readonly tool: string;
  /** Content. */
  readonly input: unknown;
}

/** The answer to a request. */
export interface ApprovalResponse extends ApprovalRequest, Decision {}

/** Requests in a step's content that a person must answer. */
export function waitingIn(content: unknown): readonly ApprovalRequest[] {
  const requests: ApprovalRequest[] = [];
  for (const part of fieldsIn(content)) {
    if (part.type !== "tool-approval-request" || part.isAutomatic === true) continue;
    const request = requestIn(textOf(part.approvalId), fieldsOf(part.toolCall));
    if (request !== undefined) requests.push(request);
  }
  return requests;
}

/** The message that asks a person. */
export function askedOf(waiting: readonly ApprovalRequest[]): unknown {
  const calls = waiting.map(({ input, tool, toolUseId }) => ({
    type: "tool_call",
    id: toolUseId,
    name: tool,
    arguments: input,
  }));
  return outputMessages({ role: "assistant", content: calls }, ["tool_call"]);
}

/** Decisions of the application's own rule. A step's content has them beside their requests. */
export function automaticIn(content: unknown): readonly ApprovalResponse[] {
  const responses: ApprovalResponse[] = [];
  for (const part of fieldsIn(content)) {
    if (part.type !== "tool-approval-response") continue;
    const request = requestIn(textOf(part.approvalId), fieldsOf(part.toolCall));
    if (request !== undefined) responses.push(responseOf(request, part));
  }
  return responses;
}

/** The answers in the last message of a call that resumes a paused run. */
export function answeredIn(messages: unknown): readonly ApprovalResponse[] {
  const list = fieldsIn(messages);
  const last = list.at(-1);
  if (last?.role !== "tool") return [];
  const answers = fieldsIn(last.content).filter(({ type }) => type === "tool-approval-response");
  if (answers.length === 0) return [];
  const parts = list
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => fieldsIn(content));
  const calls = byId(parts, "tool-call", "toolCallId");
  const results = byId(fieldsIn(last.content), "tool-result", "toolCallId");
  const requests = byId(parts, "tool-approval-request", "approvalId");
  const responses = new Map<string, ApprovalResponse>();
  for (const answer of answers) {
    const approvalId = textOf(answer.approvalId);
    const asked = approvalId === undefined ? undefined : requests.get(approvalId);
    const call = calls.get(textOf(asked?.toolCallId) ?? "");
    const request = requestIn(approvalId, call);
    if (request === undefined) continue;
    const { toolUseId } = request;
    // The SDK uses the first answer for a call, and none for an approved call that has its result already.
    const isOld = answer.approved === true && results.has(toolUseId);
    if (!isOld && !responses.has(toolUseId)) responses.set(toolUseId, responseOf(request, answer));
  }
  return [...responses.values()];
}

/** The results of tool calls in the messages of a request, by the IDs of the calls. */
export function outputsIn(messages: unknown): ReadonlyMap<string, Fields> {
  const parts = fieldsIn(messages)
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => fieldsIn(content));
  const outputs = new Map<string, Fields>();
  for (const [id, { output }] of byId(parts, "tool-result", "toolCallId")) {
    outputs.set(id, fieldsOf(output) ?? {});
  }
  return outputs;
}

function byId(parts: readonly Fields[], type: string, name: string): ReadonlyMap<string, Fields> {
  const found = parts.filter((part) => part.type === type);
  return new Map(found.map((part) => [textOf(part[name]) ?? "", part]));
}

function requestIn(
  approvalId: string | undefined,
  call: Fields | undefined,
): ApprovalRequest | undefined {
  const toolUseId = textOf(call?.toolCallId);
  if (approvalId === undefined || toolUseId === undefined) return undefined;
  return { approvalId, toolUseId, tool: textOf(call?.toolName) ?? "", input: call?.input };
}

function responseOf(request: ApprovalRequest, { approved, reason }: Fields): ApprovalResponse {
  return { ...request, approved: approved === true, reason: textOf(reason) ?? "" };
}

function fieldsIn(list: unknown): readonly Fields[] {
  const found: Fields[] = [];
  for (const each of listOf(list) ?? []) {
    const fields = fieldsOf(each);
    if (fields !== undefined) found.push(fields);
  }
  return found;
}
