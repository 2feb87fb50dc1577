import type { ViewSpan } from "../format.ts";
import { fieldsOf, fieldText, textIn } from "./attributes.ts";
import { indentedJson, jsonOf, parsedJson } from "./json-text.ts";

/** A message as it is shown. Values without the form of the conventions are shown as text. */
export interface ChatMessage {
  /** `system`, `user`, `assistant`, `tool`, or a role of the sender's own. */
  readonly role: string;
  /** The attribute that has it. */
  readonly from: "instructions" | "input" | "output";
  readonly parts: readonly ChatPart[];
  /** Why the model stopped, if it is an answer. */
  readonly finishReason?: string;
}

/** A part of a message. */
export interface ChatPart {
  /** `data`: a file, an image, or a part of an unknown type. */
  readonly kind: "text" | "reasoning" | "tool_call" | "tool_result" | "data";
  /** The tool of a call, or the type of data. */
  readonly name?: string;
  /** ID of a call. Its result has the same. */
  readonly callId?: string;
  readonly text: string;
}

/**
 * The messages of a span in their order; none if it has no content.
 *
 * @param earlier messages of its input that are on other spans.
 */
export function conversationOf(
  { attributes }: ViewSpan,
  earlier: readonly unknown[] = [],
): readonly ChatMessage[] {
  const instructions = textIn(attributes, "gen_ai.system_instructions");
  const input = textIn(attributes, "gen_ai.input.messages");
  const output = textIn(attributes, "gen_ai.output.messages");
  return [
    ...(instructions === undefined ? [] : [instructionsIn(instructions)]),
    ...earlier.map((message) => messageOf(message, "input")),
    ...(input === undefined ? [] : messagesIn(input, "input")),
    ...(output === undefined ? [] : messagesIn(output, "output")),
  ];
}

/** The instructions of a model call. */
export function instructionsIn(text: string): ChatMessage {
  const parts = parsedJson(text);
  const shown = Array.isArray(parts) ? parts.map(partOf) : [asText(text)];
  return { role: "system", from: "instructions", parts: shown };
}

function messagesIn(text: string, from: "input" | "output"): readonly ChatMessage[] {
  const messages = rawMessagesIn(text);
  if (messages === undefined) return [messageOfText(text, from)];
  return messages.map((message) => messageOf(message, from));
}

/** The messages of an attribute as they came; `undefined` if it is not a list. */
export function rawMessagesIn(text: string): readonly unknown[] | undefined {
  const messages = parsedJson(text);
  return Array.isArray(messages) ? messages : undefined;
}

/** A message of {@link rawMessagesIn} as it is shown. */
export function messageOf(message: unknown, from: "input" | "output"): ChatMessage {
  const parts = fieldsOf(message)?.parts;
  const finishReason = fieldText(message, "finish_reason");
  return {
    role: roleOf(message, from),
    from,
    parts: Array.isArray(parts) ? parts.map(partOf) : [unknownPart(message)],
    ...(finishReason === undefined ? {} : { finishReason }),
  };
}

/** The role of a message. Default: the user of what a model was asked, the assistant of what it answered. */
export function roleOf(message: unknown, from: "input" | "output"): string {
  return fieldText(message, "role") ?? (from === "input" ? "user" : "assistant");
}

/** A text in place of a list of messages. */
export function messageOfText(text: string, from: "input" | "output"): ChatMessage {
  return { role: roleOf(undefined, from), from, parts: [asText(text)] };
}

/** Why a model stopped, if it says more than that the answer or its tool calls were complete. */
export function unusualEnd({ finishReason }: ChatMessage): string | undefined {
  const isUsual = finishReason !== undefined && USUAL_ENDS.test(finishReason);
  return isUsual ? undefined : finishReason;
}

/** In the words of the conventions and of the providers. */
const USUAL_ENDS =
  /^(?:stop|end_turn|end-turn|stop_sequence|completed?|tool_calls?|tool-calls?|tool_use|function_call|unknown)$/i;

function partOf(part: unknown): ChatPart {
  const fields = fieldsOf(part);
  const content = fields?.content;
  const callId = fieldText(part, "id");
  const id = callId === undefined ? {} : { callId };
  switch (fields?.type) {
    case "text":
      return typeof content === "string" ? { kind: "text", text: content } : unknownPart(part);
    case "reasoning":
      return typeof content === "string" ? { kind: "reasoning", text: content } : unknownPart(part);
    case "tool_call": {
      const name = fieldText(part, "name") ?? "";
      return { kind: "tool_call", name, ...id, text: valueText(fields.arguments) };
    }
    case "tool_call_response":
      // Older versions of the conventions called it `result`.
      return { kind: "tool_result", ...id, text: valueText(fields.response ?? fields.result) };
    default:
      return unknownPart(part);
  }
}

function unknownPart(part: unknown): ChatPart {
  if (typeof part === "string") return asText(part);
  const name = fieldText(part, "type");
  return { kind: "data", ...(name === undefined ? {} : { name }), text: jsonOf(part) };
}

function asText(text: string): ChatPart {
  return { kind: "text", text: indentedJson(text) ?? text };
}

/** Arguments and results are values, or text that may be JSON. */
function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? (indentedJson(value) ?? value) : jsonOf(value);
}
