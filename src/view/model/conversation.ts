import type { ViewSpan } from "../format.ts";
import { fieldsOf, fieldText, textIn } from "./attributes.ts";
import { indentedJson, jsonOf } from "./json-text.ts";

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

/** The messages of a span in their order; none if it has no content. */
export function conversationOf({ attributes }: ViewSpan): readonly ChatMessage[] {
  const instructions = textIn(attributes, "gen_ai.system_instructions");
  const input = textIn(attributes, "gen_ai.input.messages");
  const output = textIn(attributes, "gen_ai.output.messages");
  return [
    ...(instructions === undefined ? [] : [instructionsIn(instructions)]),
    ...(input === undefined ? [] : messagesIn(input, "input")),
    ...(output === undefined ? [] : messagesIn(output, "output")),
  ];
}

function instructionsIn(text: string): ChatMessage {
  const parts = parsed(text);
  const shown = Array.isArray(parts) ? parts.map(partOf) : [asText(text)];
  return { role: "system", from: "instructions", parts: shown };
}

function messagesIn(text: string, from: "input" | "output"): readonly ChatMessage[] {
  const messages = parsed(text);
  const role = from === "input" ? "user" : "assistant";
  if (!Array.isArray(messages)) return [{ role, from, parts: [asText(text)] }];
  return messages.map((message) => {
    const parts = fieldsOf(message)?.parts;
    const finishReason = fieldText(message, "finish_reason");
    return {
      role: fieldText(message, "role") ?? role,
      from,
      parts: Array.isArray(parts) ? parts.map(partOf) : [unknownPart(message)],
      ...(finishReason === undefined ? {} : { finishReason }),
    };
  });
}

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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
