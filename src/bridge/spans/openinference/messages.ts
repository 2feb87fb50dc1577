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

/** The texts of messages. */
export function textsOf(messages: readonly PartedMessage[]): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => partText(part) ?? []));
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
  const rest = (system === undefined ? messages : messages.slice(1)).flatMap(separated);
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

/** The results of several tools are messages of their own: one has only one ID of a call. */
function separated(message: PartedMessage): readonly PartedMessage[] {
  const { parts, role } = message;
  const results = parts.filter(isResult);
  if (results.length < 2) return [message];
  const others = parts.filter((part) => !isResult(part));
  return [others, ...results.map((part) => [part])]
    .filter(({ length }) => length > 0)
    .map((some) => ({ role, parts: some }));
}

function isResult(part: unknown): boolean {
  return isFields(part) && part.type === "tool_call_response";
}

function fieldsOf({ parts, role }: PartedMessage): Fields {
  const fields: Fields = [["role", role]];
  const contents: Content[] = [];
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
    if (isResult(part)) addText(fields, "tool_call_id", part.id);
    const content = contentOf(part);
    if (content !== undefined) contents.push(content);
  }
  if (contents.every(({ type }) => type === "text")) {
    if (contents.length > 0)
      fields.push(["content", contents.map(({ value }) => value).join("\n")]);
    return fields;
  }
  for (const [at, { type, value }] of contents.entries()) {
    const content = `contents.${at}.message_content`;
    fields.push([`${content}.type`, type]);
    fields.push([`${content}.${type === "image" ? "image.image.url" : "text"}`, value]);
  }
  return fields;
}

interface Content {
  readonly type: "text" | "reasoning" | "image";
  /** A text, or the address of the image. */
  readonly value: string;
}

function contentOf(part: Readonly<Record<string, unknown>>): Content | undefined {
  const type = part.type === "reasoning" ? part.type : part.modality === "image" ? "image" : "text";
  const value =
    type === "text"
      ? partText(part)
      : type === "image"
        ? (textIn(part.uri) ?? dataUrl(part))
        : textIn(part.content);
  return value === undefined ? undefined : { type, value };
}

/** The address of an image that stands in the message. A shortened one can't be shown. */
function dataUrl({ content, mime_type }: Readonly<Record<string, unknown>>): string | undefined {
  const data = textIn(content);
  if (data === undefined || !/^[\w+/-]+=*$/.test(data)) return undefined;
  return `data:${textIn(mime_type) ?? "image/png"};base64,${data}`;
}

/** The text of a text part, or of a tool's response. Other parts have none. */
function partText(part: unknown): string | undefined {
  if (!isFields(part)) return undefined;
  if (part.type === "text") return textIn(part.content);
  return isResult(part) ? asText(part.response ?? part.result) : undefined;
}

function addText(fields: Fields, name: string, value: unknown): void {
  const text = textIn(value);
  if (text !== undefined) fields.push([name, text]);
}

function asText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
