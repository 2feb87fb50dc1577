import {
  type Conversation,
  finishReasonOf,
  type InputMessage,
  type MessagePart,
  messagesOrValue,
  type OutputMessage,
  outputMessages,
  toMessages,
} from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, reasonIn, textOf } from "../core/door.ts";
import { metadataOf } from "./answer-metadata.ts";

// Converts LangChain's messages to the form of `gen_ai.input.messages` (GenAI conventions). Contents are not copied.

/** The messages of one request. */
function requestMessages(messages: unknown): readonly InputMessage[] {
  const list = listOf(messages) ?? [];
  const converted: InputMessage[] = [];
  for (const message of list) converted.push(messageOf(message));
  return converted;
}

/**
 * Outputs of a chain, with messages in the conventions' form. LangChain's own JSON of a message is three times as
 * long.
 */
export function conventionalOutputs(outputs: unknown): unknown {
  if (isMessage(outputs)) return messageOf(outputs);
  if (Array.isArray(outputs)) return isMessage(outputs[0]) ? requestMessages(outputs) : outputs;
  const messages = listOf(fieldsOf(outputs)?.messages);
  if (messages === undefined || !isMessage(messages[0])) return outputs;
  return { ...fieldsOf(outputs), messages: requestMessages(messages) };
}

/** The input of a chain or graph: the messages of its state, else the state. */
export function askedOf(inputs: unknown): unknown {
  const fields = fieldsOf(inputs);
  // A graph is resumed with the answer to its question, or with nothing.
  if (fields?.lg_name === "Command") return messagesBy(fields.resume, "user");
  const asked =
    listOf(fields?.messages)?.map(spelledOut) ?? fields?.messages ?? only(inputs, "input");
  // `createAgent` accepts messages in several forms.
  return messagesIn(isMessage(asked) ? [asked] : asked) ?? messagesBy(asked, "user");
}

/**
 * The answer of a chain or graph: the newest model message of its state, else the state.
 *
 * @param outputs with messages in the conventions' form.
 * @param given the same outputs in LangChain's form. They have the finish reason.
 */
export function answeredOf(outputs: unknown, given: unknown = outputs): unknown {
  const messages = messagesOf(outputs);
  const at = messages?.findLastIndex((message) => fieldsOf(message)?.role === "assistant") ?? -1;
  if (at < 0) return messagesBy(only(outputs, "output"), "assistant");
  const answer = messages?.[at];
  const reason = reasonIn(metadataOf(undefined, fieldsOf(messagesOf(given)?.[at])));
  return reason === undefined ? messagesBy(answer, "assistant") : outputMessages(answer, [reason]);
}

function messagesOf(outputs: unknown): readonly unknown[] | undefined {
  const given = only(outputs, "output");
  return listOf(fieldsOf(given)?.messages) ?? listOf(given);
}

/** The question of a paused graph: the value of its interrupt, or of all interrupts. */
export function questionOf(payload: unknown): unknown {
  const values = listOf(payload)?.map((one) => fieldsOf(one)?.value ?? one);
  return messagesBy(values?.length === 1 ? values[0] : (values ?? payload), "assistant");
}

/** The input of a model: messages, or prompts of a text-completion model. */
export type ModelInput = { readonly messages: unknown } | { readonly prompts: unknown };

/** @param conversation of the run that asks. `undefined`: a model that is asked outside of a run. */
export function askedMessages(
  input: ModelInput,
  conversation: Conversation | undefined,
): readonly InputMessage[] {
  if ("messages" in input) {
    if (conversation === undefined) return requestMessages(input.messages);
    return conversation.messages(listOf(input.messages) ?? [], viewOf);
  }
  return (listOf(input.prompts) ?? []).flatMap((prompt) => toMessages(prompt));
}

export function messageOf(message: unknown): InputMessage {
  if (fieldsOf(message) === undefined) return { role: "user", parts: partsOf(message) };
  const [converted] = toMessages([viewOf(message)]);
  return converted ?? { role: "user", parts: [] };
}

/** @param reason the finish reason, in the provider's word. */
export function answerMessage(message: Fields, reason: string | undefined): OutputMessage {
  return { ...messageOf(message), finish_reason: finishReasonOf(reason) };
}

/** The values of a message that are converted. In some versions, fields are getters of the class. */
function viewOf(message: unknown): unknown {
  const fields = fieldsOf(message);
  if (fields === undefined) return message;
  const kind = kindOf(fields);
  const role = textOf(fields.role) ?? kind;
  const { additional_kwargs, content, name, tool_call_id, tool_calls } = fields;
  return { role, name, content, additional_kwargs, tool_calls, tool_call_id };
}

/** `type` is a field since 1.0, and a method before. */
function kindOf(message: Fields): string {
  const known = textOf(message.type);
  if (known !== undefined) return known;
  const ask = message._getType;
  const kind: unknown = typeof ask === "function" ? ask.call(message) : undefined;
  return textOf(kind) ?? "user";
}

function partsOf(content: unknown): readonly MessagePart[] {
  return toMessages(content).flatMap(({ parts }) => parts);
}

function messagesIn(value: unknown): readonly InputMessage[] | undefined {
  const list = listOf(value);
  return list !== undefined && isMessage(list[0]) ? requestMessages(list) : undefined;
}

/** LangChain also accepts `"hi"` and `["human", "hi"]` as messages in a list. */
function spelledOut(message: unknown): unknown {
  if (typeof message === "string") return { role: "user", content: message };
  const [role, content, ...more] = listOf(message) ?? [];
  return typeof role === "string" && more.length === 0 ? { role, content } : message;
}

/** LangChain wraps a value that is not an object into one with this field. */
function only(value: unknown, name: string): unknown {
  const fields = fieldsOf(value);
  if (fields === undefined || !Object.hasOwn(fields, name)) return value;
  return Object.keys(fields).length === 1 ? fields[name] : value;
}

/** Converts a value to messages. `undefined` if there is no value. */
function messagesBy(value: unknown, role: "user" | "assistant"): unknown {
  return value === undefined || value === null ? undefined : messagesOrValue(value, role);
}

function isMessage(value: unknown): boolean {
  const fields = fieldsOf(value);
  return fields?.lc_serializable === true && typeof fields.getType === "function";
}
