import { isKnownPart, isKnownType, isPart } from "./conventional.ts";
import { mediaPart } from "./media-part.ts";
import type { MessagePart } from "./message.ts";
import {
  argumentsIn,
  entriesIn,
  fieldsIn,
  firstText,
  isNothing,
  isReadable,
  jsonText,
  listIn,
  type OwnFields,
  objectIn,
  own,
  readable,
  textIn,
} from "./own-fields.ts";

/** The content of a message: a text, or a list of any provider's blocks. */
export function contentParts(content: unknown): MessagePart[] {
  if (isNothing(content) || content === "") return [];
  const blocks: readonly unknown[] = Array.isArray(content) ? entriesIn(content) : [content];
  return blocks.filter((block) => !isNothing(block)).map(safePart);
}

/** A block that throws when it is read does not affect the others. */
function safePart(block: unknown): MessagePart {
  try {
    return anyPart(block);
  } catch {
    return textPart(jsonText(block));
  }
}

/** A block as a part. An unknown block keeps its type, or becomes a text. */
export function anyPart(block: unknown): MessagePart {
  if (typeof block === "string") return textPart(block);
  const fields = fieldsIn(block);
  const known = fields === undefined ? undefined : knownPart(fields);
  if (known !== undefined) return known;
  return isPart(fields) && !isKnownType(fields.type) ? fields : textPart(jsonText(block));
}

/** A block of a known kind. `undefined` for any other. */
export function knownPart(fields: OwnFields): MessagePart | undefined {
  const type = textIn(fields, "type");
  if (type === undefined) return untypedPart(fields);
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
    case "summary_text":
    case "reasoning_text": {
      const text = firstText(fields, "content", "text");
      return text === undefined ? undefined : partOr(fields, textPart(text));
    }
    case "refusal": {
      const text = firstText(fields, "refusal", "content");
      return text === undefined ? undefined : textPart(text);
    }
    case "reasoning":
    case "thinking":
    case "reasoning_content":
    case "redacted_thinking":
      return partOr(fields, { type: "reasoning", content: reasoningIn(fields) });
    case "tool_use":
    case "tool_call":
    case "tool-call":
    case "function_call":
    case "invalid_tool_call":
      return partOr(fields, callPart(fields));
    case "tool_result":
    case "tool-result":
    case "tool_call_response":
    case "function_call_result":
    case "function_call_output":
      return partOr(fields, responsePart(fields));
    case "server_tool_call":
    case "server_tool_use":
    case "mcp_tool_use":
      return partOr(fields, serverCallPart(fields));
    case "server_tool_call_response":
    case "server_tool_call_result":
      return partOr(fields, serverResponsePart(fields));
    default:
      if (type.endsWith("_tool_result")) return serverResponsePart(fields);
      return partOr(fields, documentText(type, fields) ?? mediaPart(type, fields));
  }
}

/** A document with its text in the block, not as base64. */
function documentText(type: string, fields: OwnFields): MessagePart | undefined {
  if (type === "text-plain") return wordsIn(fields, "text");
  const source = type === "document" ? objectIn(fields, "source") : undefined;
  return source !== undefined && textIn(source, "type") === "text"
    ? wordsIn(source, "data")
    : undefined;
}

function wordsIn(fields: OwnFields, name: string): MessagePart | undefined {
  const text = textIn(fields, name);
  return text === undefined ? undefined : textPart(text);
}

/** Gemini's parts have no type. */
function untypedPart(fields: OwnFields): MessagePart | undefined {
  const text = textIn(fields, "text");
  if (text !== undefined) {
    return own(fields, "thought") === true ? { type: "reasoning", content: text } : textPart(text);
  }
  const called = objectIn(fields, "functionCall") ?? objectIn(fields, "function_call");
  if (called !== undefined) return callPart(called);
  const response = objectIn(fields, "functionResponse") ?? objectIn(fields, "function_response");
  if (response !== undefined) return responsePart(response);
  const code = objectIn(fields, "executableCode") ?? objectIn(fields, "executable_code");
  if (code !== undefined) return serverCallPart({ ...code, name: CODE_EXECUTION });
  const ran = objectIn(fields, "codeExecutionResult") ?? objectIn(fields, "code_execution_result");
  if (ran !== undefined) return serverResponsePart({ ...ran, type: CODE_EXECUTION });
  return mediaPart("", fields);
}

const CODE_EXECUTION = "code_execution";

/** A call that the provider executes itself. */
function serverCallPart(fields: OwnFields): MessagePart {
  const id = idIn(fields);
  const name = textIn(fields, "name") ?? "";
  const details = objectIn(fields, "server_tool_call") ?? withoutType(fields);
  return {
    type: "server_tool_call",
    ...(id === undefined ? {} : { id }),
    name,
    server_tool_call: readableFields(details, textIn(details, "type") ?? name),
  };
}

function serverResponsePart(fields: OwnFields): MessagePart {
  const id = idIn(fields);
  const details = objectIn(fields, "server_tool_call_response") ?? fields;
  const type = textIn(details, "type") ?? "";
  return {
    type: "server_tool_call_response",
    ...(id === undefined ? {} : { id }),
    server_tool_call_response: readableFields(details, type),
  };
}

export function readableFields(fields: OwnFields, type: string): OwnFields {
  return isReadable(fields) ? { ...fields, type } : { type, value: jsonText(fields) };
}

function withoutType({ type: _, ...rest }: OwnFields): OwnFields {
  return rest;
}

export function textPart(content: string): MessagePart {
  return { type: "text", content };
}

/** A call, with any provider's names for ID, name and arguments. */
export function callPart(fields: OwnFields): MessagePart {
  const called = objectIn(fields, "function") ?? objectIn(fields, "custom") ?? fields;
  const id = idIn(fields);
  const name = firstText(called, "name", "toolName") ?? "";
  const given = firstOf(called, FIRST_ARGUMENTS);
  return {
    type: "tool_call",
    ...(id === undefined ? {} : { id }),
    name,
    ...(given === undefined ? {} : { arguments: argumentsIn(given) }),
  };
}

const FIRST_ARGUMENTS = ["arguments", "args", "input"];

/** The result of a call, with any provider's names for it. */
export function responsePart(fields: OwnFields): MessagePart {
  const id = idIn(fields) ?? textIn(fields, "name");
  const given = firstOf(fields, FIRST_RESPONSES);
  return {
    type: "tool_call_response",
    ...(id === undefined ? {} : { id }),
    response: readable(responseOf(given)),
  };
}

const FIRST_RESPONSES = ["response", "output", "result", "content"];

function firstOf(fields: OwnFields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = own(fields, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function idIn(fields: OwnFields): string | undefined {
  return firstText(fields, "call_id", "callId", "tool_call_id", "tool_use_id", "toolCallId", "id");
}

/** A single text if possible: most results with text blocks have only one. */
function responseOf(given: unknown): unknown {
  if (given === undefined) return null;
  const blocks = Array.isArray(given) ? given : [given];
  const [only, another] = blocks;
  const fields = another === undefined ? fieldsIn(only) : undefined;
  // The AI SDK's results have their type beside the value.
  if (fields !== undefined && VALUE_TYPES.has(textIn(fields, "type") ?? "")) {
    const value = own(fields, "value");
    if (value !== undefined) return value;
  }
  const isText = fields !== undefined && TEXT_BLOCKS.has(textIn(fields, "type") ?? "");
  return (isText ? textIn(fields, "text") : undefined) ?? given;
}

const TEXT_BLOCKS = new Set(["text", "input_text", "output_text"]);

const VALUE_TYPES = new Set(["text", "json", "error-text", "error-json", "content"]);

/** Reasoning: a text, or lists of texts in a content or a summary. Encrypted reasoning is left out. */
function reasoningIn(fields: OwnFields): string {
  const text = firstText(fields, "content", "thinking", "reasoning", "text");
  if (text !== undefined) return text;
  const inner = objectIn(fields, "reasoningText");
  if (inner !== undefined) return textIn(inner, "text") ?? "";
  for (const name of ["rawContent", "content", "summary"]) {
    const texts = (listIn(fields, name) ?? [])
      .map((each) => (typeof each === "string" ? each : textIn(fieldsIn(each) ?? {}, "text")))
      .filter((each) => each !== undefined);
    if (texts.length > 0) return texts.join("\n");
  }
  return "";
}

/** A block in the conventions' form stays unchanged. */
function partOr(fields: OwnFields, part: MessagePart | undefined): MessagePart | undefined {
  return isKnownPart(fields) ? fields : part;
}
