import { type Fields, fieldsOf, listOf, textOf } from "../narrow.ts";

// LangChain's messages in the form that the GenAI conventions have for `gen_ai.input.messages`. What
// they hold is content, and is taken over as it is, not copied.

interface TextPart {
  readonly type: "text";
  readonly content: string;
}

interface CallPart {
  readonly type: "tool_call";
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
}

interface ResponsePart {
  readonly type: "tool_call_response";
  readonly id: unknown;
  readonly response: unknown;
}

/** One message, as the conventions have it; a part of a kind of its own stays as LangChain has it. */
export interface ConventionalMessage {
  readonly role: string;
  readonly parts: readonly (TextPart | CallPart | ResponsePart | unknown)[];
  readonly finish_reason?: string;
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["function", "tool"],
]);

/** Content blocks that stand among the message's tool calls as well. */
const CALL_BLOCKS = new Set(["tool_use", "tool_call", "function_call", "input_json_delta"]);

/** The messages of one request. */
export function requestMessages(messages: unknown): ConventionalMessage[] {
  const list = listOf(messages) ?? [];
  const converted: ConventionalMessage[] = [];
  for (const message of list) converted.push(messageOf(message));
  return converted;
}

/**
 * What a chain gave, with messages in the conventions' form, as requests have them: LangChain's own
 * JSON of a message is three times as long, and most of what such an event costs.
 */
export function conventionalOutputs(outputs: unknown): unknown {
  if (isMessage(outputs)) return messageOf(outputs);
  if (Array.isArray(outputs)) return isMessage(outputs[0]) ? requestMessages(outputs) : outputs;
  const messages = listOf(fieldsOf(outputs)?.messages);
  if (messages === undefined || !isMessage(messages[0])) return outputs;
  return { ...fieldsOf(outputs), messages: requestMessages(messages) };
}

function isMessage(value: unknown): boolean {
  const fields = fieldsOf(value);
  return fields?.lc_serializable === true && typeof fields.getType === "function";
}

/** The prompt of a model that completes text. */
export function promptMessages(prompts: unknown): ConventionalMessage[] {
  const list = listOf(prompts) ?? [];
  return list.map((prompt) => ({ role: "user", parts: [{ type: "text", content: prompt }] }));
}

export function messageOf(message: unknown, finishReason?: string): ConventionalMessage {
  const fields = fieldsOf(message);
  if (fields === undefined) return { role: "user", parts: textParts(message) };
  const kind = kindOf(fields);
  const role = textOf(fields.role) ?? ROLES.get(kind) ?? kind;
  const parts =
    kind === "tool"
      ? [{ type: "tool_call_response", id: fields.tool_call_id, response: fields.content }]
      : contentParts(fields);
  return finishReason === undefined
    ? { role, parts }
    : { role, parts, finish_reason: finishReason };
}

/** `type` since 1.0, a method before. */
function kindOf(message: Fields): string {
  const known = textOf(message.type);
  if (known !== undefined) return known;
  const ask = message._getType;
  const kind: unknown = typeof ask === "function" ? ask.call(message) : undefined;
  return textOf(kind) ?? "user";
}

function contentParts(message: Fields): unknown[] {
  const calls = listOf(message.tool_calls) ?? [];
  const parts = typeof message.content === "string" ? textParts(message.content) : [];
  for (const block of listOf(message.content) ?? []) {
    const part = blockPart(block, calls.length > 0);
    if (part !== undefined) parts.push(part);
  }
  for (const call of calls) {
    const { id, name, args } = fieldsOf(call) ?? {};
    parts.push({ type: "tool_call", id, name, arguments: args });
  }
  return parts;
}

function blockPart(block: unknown, hasCalls: boolean): unknown {
  const fields = fieldsOf(block);
  if (fields === undefined) return { type: "text", content: block };
  if (fields.type === "text") return { type: "text", content: fields.text };
  return hasCalls && CALL_BLOCKS.has(textOf(fields.type) ?? "") ? undefined : block;
}

function textParts(content: unknown): unknown[] {
  return content === "" ? [] : [{ type: "text", content }];
}
