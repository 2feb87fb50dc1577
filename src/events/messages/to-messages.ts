import { answerDrafts, responseItems } from "./answers.ts";
import { textPart } from "./call-parts.ts";
import { anyPart } from "./content-parts.ts";
import { isKnownPart, isMessage } from "./conventional.ts";
import { finishReasonOf } from "./finish-reason.ts";
import { type Draft, itemDraft, roleDraft } from "./items.ts";
import type { InputMessage, MessagePart, OutputMessage } from "./message.ts";
import { entriesIn, fieldsIn, isNothing, jsonText, own } from "./own-fields.ts";
import { serializedDraft } from "./serialized.ts";

/**
 * Converts the input and output of agents and models into messages of OpenTelemetry's GenAI conventions. It reads a
 * text, Chat Completions messages and answers, items of the Responses API and of the OpenAI Agents SDK, Anthropic's
 * messages and content blocks, Gemini's contents, messages that LangChain serialized, and complete requests of these
 * providers. Messages in the conventions' form stay unchanged. Any other value becomes one message with its JSON as
 * text. An empty value gives no message. Never throws.
 *
 * @param role role of messages that have none. `user`: the input of a model or a run. `assistant`: its answer. Then
 *   each message has a `finish_reason`, which is `unknown` if the answer has none. Default `user`.
 *
 * @example
 * toMessages("Where is my order?");
 * // [{ role: "user", parts: [{ type: "text", content: "Where is my order?" }] }]
 * toMessages({ role: "assistant", content: "On its way." }, "assistant");
 * // [{ role: "assistant", parts: [{ type: "text", content: "On its way." }], finish_reason: "unknown" }]
 */
export function toMessages(value: unknown, role?: "user"): readonly InputMessage[];
export function toMessages(value: unknown, role: "assistant"): readonly OutputMessage[];
export function toMessages(
  value: unknown,
  role?: "user" | "assistant",
): readonly InputMessage[] | readonly OutputMessage[];
export function toMessages(
  value: unknown,
  role: "user" | "assistant" = "user",
): readonly InputMessage[] {
  return role === "assistant" ? outputMessages(value) : inputMessages(value);
}

/** The input of a model or a run. */
export function inputMessages(value: unknown): readonly InputMessage[] {
  return recognised(value, "user") ?? asText(value, "user");
}

/**
 * The answer of a model or a run.
 *
 * @param reasons the finish reasons in the provider's words, one for each message.
 */
export function outputMessages(
  value: unknown,
  reasons?: readonly string[] | null,
): readonly OutputMessage[] {
  try {
    return withReasons(recognised(value, "assistant") ?? asText(value, "assistant"), reasons);
  } catch {
    return withReasons(asText(value, "assistant"), reasons);
  }
}

function withReasons(
  messages: readonly InputMessage[],
  reasons: readonly string[] | null | undefined,
): readonly OutputMessage[] {
  if (messages.every(hasReason)) return messages;
  return messages.map((message, index) => {
    if (hasReason(message)) return message;
    const reason = messages.length === 1 ? (reasons?.at(-1) ?? undefined) : reasons?.[index];
    return { ...message, finish_reason: finishReasonOf(reason) };
  });
}

/**
 * The same, but a value that is not a message is returned unchanged, so that its sender need not write its JSON. A
 * reader converts it with the same result.
 */
export function messagesOrValue(value: unknown, role: "user" | "assistant"): unknown {
  const messages = recognised(value, role);
  if (messages === undefined) return value;
  return role === "assistant" ? outputMessages(messages) : messages;
}

/** System instructions as a list of parts. */
export function instructionParts(value: unknown): readonly MessagePart[] {
  try {
    if (Array.isArray(value)) {
      const list = entriesIn(value);
      if (list.every(isKnownPart)) return list;
    }
    return inputMessages(value).flatMap(({ parts }) => parts);
  } catch {
    return [textPart(jsonText(value))];
  }
}

function hasReason(message: InputMessage): message is OutputMessage {
  return "finish_reason" in message && isWord(message.finish_reason);
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function asText(value: unknown, role: string): readonly InputMessage[] {
  if (isNothing(value) || value === "") return [];
  const text = jsonText(value);
  // A recording has `null` for such a value, for example an invalid date.
  if (text === "" || (text === "null" && typeof value !== "string")) return [];
  return [{ role, parts: [textPart(text)] }];
}

/** `undefined` for a value without messages, and for one that throws when it is read. */
function recognised(
  value: unknown,
  role: "user" | "assistant",
): readonly InputMessage[] | undefined {
  try {
    if (typeof value === "string") return asText(value, role);
    if (Array.isArray(value)) return listMessages(entriesIn(value), role);
    if (isMessage(value)) return [value];
    const asked = role === "user" ? requestList(value) : undefined;
    const requested = asked && listMessages(asked, role);
    if (requested !== undefined) return requested;
    const drafts = draftsOf(value, role);
    return drafts === undefined ? undefined : joined(drafts, role);
  } catch {
    return undefined;
  }
}

/** Types of items that no other form of message has. */
const ITEMS: ReadonlySet<unknown> = new Set([
  ...["function_call", "function_call_output", "function_call_result", "reasoning", "text"],
  ...["input_text", "output_text", "tool_use", "tool_call", "tool_result", "tool_call_response"],
]);

/** The messages of a complete request to a provider's client. */
function requestList(value: unknown): readonly unknown[] | undefined {
  const fields = fieldsIn(value);
  if (fields === undefined || "role" in fields || "type" in fields) return undefined;
  const asked = own(fields, "messages") ?? own(fields, "contents") ?? own(fields, "input");
  if (!Array.isArray(asked)) return undefined;
  const instructions = own(fields, "system") ?? own(fields, "instructions");
  return isNothing(instructions) ? asked : [{ role: "system", content: instructions }, ...asked];
}

function listMessages(
  list: readonly unknown[],
  role: "user" | "assistant",
): readonly InputMessage[] | undefined {
  if (areMessages(list)) return list;
  if (list.length > PROBED && !hasMessages(list, (each) => draftsOrText(each, role) !== undefined))
    return undefined;
  const drafts: Draft[] = [];
  let known = 0;
  for (const each of list) {
    const entry = entryDrafts(each, role);
    if (entry.isKnown) known += 1;
    for (const draft of entry.drafts) drafts.push(draft);
  }
  return known === 0 ? undefined : joined(drafts, role);
}

/** The drafts of an entry of a list, and whether its form is known. */
export function entryDrafts(
  value: unknown,
  role: "user" | "assistant",
): { readonly drafts: readonly Draft[]; readonly isKnown: boolean } {
  if (isNothing(value)) return { drafts: [], isKnown: false };
  const drafts = draftsOrText(value, role);
  if (drafts !== undefined) return { drafts, isKnown: true };
  return { drafts: [{ role, parts: [anyPart(value)], joins: true }], isKnown: false };
}

/** A longer list has messages only if one of this many entries is one, half of them at each end. */
export const PROBED = 128;

/** Whether a list has messages, by those of its entries that are probed. */
export function hasMessages<T>(list: readonly T[], isOne: (each: T) => boolean): boolean {
  if (list.length <= PROBED) return list.some(isOne);
  return list.slice(0, PROBED / 2).some(isOne) || list.slice(-PROBED / 2).some(isOne);
}

function areMessages(list: readonly unknown[]): list is readonly InputMessage[] {
  try {
    return list.every(isMessage);
  } catch {
    return false;
  }
}

/** A message that throws when it is read does not affect the others. */
function draftsOrText(value: unknown, role: "user" | "assistant"): readonly Draft[] | undefined {
  try {
    return draftsOf(value, role);
  } catch {
    return [{ role, parts: [textPart(jsonText(value))], joins: false }];
  }
}

function draftsOf(value: unknown, role: "user" | "assistant"): readonly Draft[] | undefined {
  const fields = fieldsIn(value);
  if (fields === undefined) return undefined;
  const type = own(fields, "type");
  // Most items have an unambiguous type, so no other form needs checking.
  if (typeof type === "string" && ITEMS.has(type) && own(fields, "role") === undefined) {
    const item = itemDraft(fields, role);
    return item === undefined ? undefined : [item];
  }
  if (isMessage(fields)) {
    const { name, parts } = fields;
    const reason = own(fields, "finish_reason");
    const given = typeof reason === "string" ? reason : undefined;
    return [{ role: fields.role, parts, name: name ?? undefined, reason: given, joins: false }];
  }
  const whole = answerDrafts(fields);
  if (whole !== undefined) return whole;
  const response = responseItems(fields);
  if (response !== undefined) return responseDrafts(response.items, response.reason, role);
  const draft = serializedDraft(fields) ?? roleDraft(fields) ?? itemDraft(fields, role);
  return draft === undefined ? undefined : [draft];
}

function responseDrafts(
  items: readonly unknown[],
  status: string | undefined,
  role: "user" | "assistant",
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const item of items) {
    if (isNothing(item)) continue;
    const fields = fieldsIn(item);
    const draft = fields && (roleDraft(fields) ?? itemDraft(fields, role));
    const read = draft ?? { role, parts: [anyPart(item)], joins: true };
    drafts.push({ ...read, reason: read.reason ?? status });
  }
  return drafts;
}

function joined(drafts: readonly Draft[], role: "user" | "assistant"): readonly InputMessage[] {
  const messages = grouped(drafts).map((group) => draftMessage(group, role));
  return messages.filter((message) => message !== undefined);
}

/** Neighbours that belong to one message. */
export function grouped(drafts: readonly Draft[]): readonly (readonly Draft[])[] {
  const groups: Draft[][] = [];
  for (const draft of drafts) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    if (first?.joins === true && draft.joins && first.role === draft.role) group?.push(draft);
    else groups.push([draft]);
  }
  return groups;
}

/** The message of neighbours. `undefined` if they have no parts. */
export function draftMessage(
  drafts: readonly Draft[],
  asked: "user" | "assistant",
): InputMessage | OutputMessage | undefined {
  const [first] = drafts;
  if (first === undefined) return undefined;
  const parts = drafts.flatMap((draft) => draft.parts);
  if (first.joins && parts.length === 0) return undefined;
  const reason = drafts.findLast((draft) => draft.reason !== undefined)?.reason;
  return messageOf({ ...first, parts, reason }, asked);
}

function messageOf(
  { name, parts, reason, role }: Draft,
  asked: "user" | "assistant",
): InputMessage | OutputMessage {
  const message = name === undefined ? { role, parts } : { role, parts, name };
  if (asked === "user" || reason === undefined) return message;
  // The Responses API reports "completed" also for an answer with tool calls.
  const asks = reason === "completed" && parts.some(({ type }) => type === "tool_call");
  return { ...message, finish_reason: asks ? "tool_call" : finishReasonOf(reason) };
}
