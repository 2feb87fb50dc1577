import type { Attributes } from "@opentelemetry/api";
import { isFields, textIn } from "./values.ts";

/** A message in the form of the conventions. */
export interface PartedMessage {
  readonly role: string;
  readonly parts: readonly unknown[];
}

/** The messages of an attribute. Without messages, or with a cut JSON, none. @param given its JSON, parsed. */
export function messagesIn(given: object | undefined): readonly PartedMessage[] {
  if (!Array.isArray(given)) return [];
  const messages: PartedMessage[] = [];
  for (const each of given) {
    if (!isFields(each) || !Array.isArray(each.parts)) continue;
    messages.push({ role: textIn(each.role) ?? "user", parts: each.parts });
  }
  return messages;
}

/** The text of the last message of a role. `isWhole`: nothing else is in the messages. */
export function readableText(
  messages: readonly PartedMessage[],
  role: string,
): { readonly text: string; readonly isWhole: boolean } | undefined {
  const last = messages.findLast((message) => message.role === role);
  const texts = last?.parts.map(partText);
  if (last === undefined || texts === undefined) return undefined;
  const known = texts.filter((text) => text !== undefined);
  if (known.length === 0) return undefined;
  const isWhole = messages.length === 1 && known.length === texts.length;
  return { text: known.join("\n"), isWhole };
}

/**
 * Messages as attributes, numbered from 0.
 *
 * @param room maximum number of attributes. The system's instructions and the newest messages come first.
 */
export function messageAttributes(
  prefix: string,
  messages: readonly PartedMessage[],
  room: number,
): Attributes {
  const [first] = messages;
  const system = first?.role === "system" ? fieldsOf(first) : undefined;
  const rest = system === undefined ? messages : messages.slice(1);
  let left = room - (system?.length ?? 0);
  if (left < 0) return {};
  const shown: Fields[] = [];
  for (const message of rest.toReversed()) {
    const fields = fieldsOf(message);
    left -= fields.length;
    if (left < 0) break;
    shown.unshift(fields);
  }
  if (system !== undefined) shown.unshift(system);
  const attributes: Attributes = {};
  for (const [at, fields] of shown.entries()) {
    for (const [name, value] of fields) attributes[`${prefix}.${at}.message.${name}`] = value;
  }
  return attributes;
}

type Fields = (readonly [name: string, value: string])[];

function fieldsOf({ parts, role }: PartedMessage): Fields {
  const fields: Fields = [["role", role]];
  const texts: string[] = [];
  let calls = 0;
  for (const part of parts) {
    if (!isFields(part)) continue;
    if (part.type === "tool_call") {
      const call = `tool_calls.${calls++}.tool_call`;
      addText(fields, `${call}.id`, part.id);
      addText(fields, `${call}.function.name`, part.name);
      addText(fields, `${call}.function.arguments`, asText(part.arguments));
      continue;
    }
    if (part.type === "tool_call_response") addText(fields, "tool_call_id", part.id);
    const text = partText(part);
    if (text !== undefined) texts.push(text);
  }
  if (texts.length > 0) fields.push(["content", texts.join("\n")]);
  return fields;
}

/** The text of a text part, or of a tool's response. Other parts have none. */
function partText(part: unknown): string | undefined {
  if (!isFields(part)) return undefined;
  if (part.type === "text") return textIn(part.content);
  return part.type === "tool_call_response" ? asText(part.response ?? part.result) : undefined;
}

function addText(fields: Fields, name: string, value: unknown): void {
  const text = textIn(value);
  if (text !== undefined) fields.push([name, text]);
}

function asText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
