import { isKnownPart } from "./conventional.ts";
import { mediaPart } from "./media-part.ts";
import type { MessagePart } from "./message.ts";
import {
  argumentsIn,
  entriesIn,
  fieldsIn,
  firstText,
  isReadable,
  jsonText,
  type OwnFields,
  objectIn,
  own,
  readable,
  textIn,
} from "./own-fields.ts";

// Calls of tools and their results, in any provider's form.

export function textPart(content: string): MessagePart {
  return { type: "text", content };
}

/** A call, with any provider's names for ID, name and arguments. */
export function callPart(fields: OwnFields): MessagePart {
  const called = objectIn(fields, "function") ?? objectIn(fields, "custom") ?? fields;
  const name = firstText(called, "name", "toolName") ?? "";
  const given = firstOf(called, FIRST_ARGUMENTS);
  return {
    type: "tool_call",
    ...idOf(fields),
    name,
    ...(given === undefined ? {} : { arguments: argumentsIn(given) }),
  };
}

const FIRST_ARGUMENTS = ["arguments", "args", "input"];

/** The result of a call, with any provider's names for it. */
export function responsePart(fields: OwnFields): MessagePart {
  const id = idIn(fields) ?? textIn(fields, "name");
  return response(id, responseOf(firstOf(fields, FIRST_RESPONSES)));
}

const FIRST_RESPONSES = ["response", "output", "result", "content"];

/** A failed call of the AI SDK. The model gets the error's text, or a provider's own error as an object. */
export function errorPart(fields: OwnFields): MessagePart {
  const { error } = fields;
  return response(idIn(fields), error instanceof Error ? error.message : (error ?? NO_ERROR));
}

/** A call that a person has denied. */
export function deniedPart(fields: OwnFields): MessagePart {
  return response(idIn(fields), firstText(fields, "reason") ?? DENIED);
}

/** The AI SDK's texts for the model. */
const NO_ERROR = "unknown error";
const DENIED = "Tool call execution denied.";

function response(id: string | undefined, value: unknown): MessagePart {
  return {
    type: "tool_call_response",
    ...(id === undefined ? {} : { id }),
    response: readable(value),
  };
}

/** The question whether a call may be made. The call itself is a part of its own. */
export function approvalRequest(fields: OwnFields): MessagePart {
  const reason = textIn(fields, "reason");
  return {
    type: "tool_approval_request",
    ...idOf(objectIn(fields, "toolCall") ?? fields),
    ...approvalId(fields),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The answer to it. */
export function approvalResponse(fields: OwnFields): MessagePart {
  const approved = own(fields, "approved") ?? own(fields, "approve");
  const reason = textIn(fields, "reason");
  const call = objectIn(fields, "toolCall");
  return {
    type: "tool_approval_response",
    ...(call === undefined ? {} : idOf(call)),
    ...approvalId(fields),
    approved: approved === true,
    ...(reason === undefined ? {} : { reason }),
  };
}

function approvalId(fields: OwnFields): { readonly approval_id?: string } {
  const id = firstText(fields, "approvalId", "approval_request_id");
  return id === undefined ? {} : { approval_id: id };
}

/** A call that the provider executes itself. */
export function serverCallPart(fields: OwnFields): MessagePart {
  const name = textIn(fields, "name") ?? "";
  const details = objectIn(fields, "server_tool_call") ?? withoutType(fields);
  return {
    type: "server_tool_call",
    ...idOf(fields),
    name,
    server_tool_call: readableFields(details, textIn(details, "type") ?? name),
  };
}

export function serverResponsePart(fields: OwnFields): MessagePart {
  const details = objectIn(fields, "server_tool_call_response") ?? fields;
  return {
    type: "server_tool_call_response",
    ...idOf(fields),
    server_tool_call_response: readableFields(details, textIn(details, "type") ?? ""),
  };
}

/** Fields of a Responses API item that are the result of its call. */
const RESULTS = ["output", "outputs", "results", "result", "error"];

/** A Responses API item of a call that the provider has executed: the call, and its result if the item has it. */
export function hostedParts(type: string, fields: OwnFields): MessagePart[] {
  const id = textIn(fields, "id");
  const found = RESULTS.filter((name) => own(fields, name) !== undefined);
  const asked = Object.entries(fields).filter(([name]) => !RESULTS.includes(name));
  const call = {
    type: "server_tool_call",
    ...(id === undefined ? {} : { id }),
    name: textIn(fields, "name") ?? type.slice(0, -"_call".length),
    server_tool_call: readableFields(found.length === 0 ? fields : Object.fromEntries(asked), type),
  };
  const drawn = type === "image_generation_call" ? textIn(fields, "result") : undefined;
  if (drawn !== undefined) {
    const mime_type = `image/${textIn(fields, "output_format") ?? "png"}`;
    return [call, { type: "blob", modality: "image", mime_type, content: drawn }];
  }
  if (found.length === 0) return [call];
  const results = found.map((name): [string, unknown] => [name, withMedia(own(fields, name))]);
  const details = readableFields(Object.fromEntries(results), type);
  return [
    call,
    {
      type: "server_tool_call_response",
      ...(id === undefined ? {} : { id }),
      server_tool_call_response: details,
    },
  ];
}

export function readableFields(fields: OwnFields, type: string): OwnFields {
  return isReadable(fields) ? { ...fields, type } : { type, value: jsonText(fields) };
}

function withoutType({ type: _, ...rest }: OwnFields): OwnFields {
  return rest;
}

function firstOf(fields: OwnFields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = own(fields, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function idOf(fields: OwnFields): { readonly id?: string } {
  const id = idIn(fields);
  return id === undefined ? {} : { id };
}

function idIn(fields: OwnFields): string | undefined {
  return (
    firstText(fields, "call_id", "callId", "tool_call_id", "tool_use_id") ??
    firstText(fields, "toolCallId", "toolUseId", "id")
  );
}

/** A single text if possible: most results with text blocks have only one. */
function responseOf(given: unknown): unknown {
  if (given === undefined) return null;
  const blocks = Array.isArray(given) ? given : [given];
  const [only, another] = blocks;
  const fields = another === undefined ? fieldsIn(only) : undefined;
  const type = fields === undefined ? undefined : textIn(fields, "type");
  if (fields === undefined || type === undefined) return withMedia(given);
  // The AI SDK's results have their type beside the value.
  if (type === "execution-denied") return textIn(fields, "reason") ?? DENIED;
  const value = VALUE_TYPES.has(type) ? own(fields, "value") : undefined;
  if (value !== undefined) return type === "content" ? withMedia(value) : value;
  return (TEXT_BLOCKS.has(type) ? textIn(fields, "text") : undefined) ?? withMedia(given);
}

const TEXT_BLOCKS = new Set(["text", "input_text", "output_text"]);

const VALUE_TYPES = new Set(["text", "json", "error-text", "error-json", "content"]);

/**
 * A result with its images, sound and files as parts, so that their data can be left out by type and size: a block, a
 * list of blocks, or an MCP server's result. Any other value stays unchanged.
 */
function withMedia(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  if (Array.isArray(given)) return mediaList(given) ?? given;
  const fields = fieldsIn(given);
  const part = fields === undefined ? undefined : blockPart(fields);
  if (fields === undefined || part?.type === "blob") return part ?? given;
  const content = own(fields, "content");
  const parts = Array.isArray(content) ? mediaList(content) : undefined;
  return parts === undefined ? given : { ...fields, content: parts };
}

/** `undefined` if no block has data. */
function mediaList(list: readonly unknown[]): readonly unknown[] | undefined {
  const entries = entriesIn(list);
  const parts = entries.map((block) => {
    const fields = typeof block === "object" && block !== null ? fieldsIn(block) : undefined;
    return fields === undefined ? undefined : blockPart(fields);
  });
  const hasData = parts.some((part) => part?.type === "blob");
  return hasData ? entries.map((block, index) => parts[index] ?? block) : undefined;
}

function blockPart(fields: OwnFields): MessagePart | undefined {
  const type = textIn(fields, "type");
  if (type === undefined || isKnownPart(fields)) return undefined;
  if (!TEXT_BLOCKS.has(type)) return mediaPart(type, fields);
  const text = textIn(fields, "text");
  return text === undefined ? undefined : textPart(text);
}
