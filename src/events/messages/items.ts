import { callPart, hostedParts, responsePart } from "./call-parts.ts";
import { anyPart, contentParts, knownPart } from "./content-parts.ts";
import { mediaPart } from "./media-part.ts";
import type { MessagePart } from "./message.ts";
import {
  argumentsIn,
  fieldsIn,
  firstText,
  type OwnFields,
  objectIn,
  own,
  textIn,
} from "./own-fields.ts";

/** The message of one list entry, before the parts of one answer are joined. */
export interface Draft {
  readonly role: string;
  readonly parts: readonly MessagePart[];
  readonly name?: string | undefined;
  /** The finish reason, in the provider's word. */
  readonly reason?: string | undefined;
  /** Whether it is joined with its neighbours of the same role. */
  readonly joins: boolean;
}

/** Calls of OpenAI's own tools that the agent executes, with the tools' names. */
const LOCAL_CALLS: ReadonlyMap<string, string> = new Map([
  ["computer_call", "computer"],
  ["shell_call", "shell"],
  ["local_shell_call", "local_shell"],
  ["apply_patch_call", "apply_patch"],
]);

/** Other items that belong to the model's answer. */
const OF_MODEL: ReadonlySet<string> = new Set(["compaction", "mcp_list_tools"]);

/**
 * An item of the Responses API or of the OpenAI Agents SDK's protocol, or a single block of content.
 * `undefined` for anything else.
 *
 * @param role of a block that has none.
 */
export function itemDraft(fields: OwnFields, role: string): Draft | undefined {
  const type = textIn(fields, "type");
  switch (type) {
    case undefined:
      return undefined;
    case "function_call":
    case "mcp_approval_request":
      return joining("assistant", [callPart(fields)]);
    case "custom_tool_call":
      return joining("assistant", [callPart(fields)]);
    case "function_call_result":
    case "tool_call_response":
    case "tool_result":
      return { role: "tool", parts: [responsePart(fields)], joins: false };
    case "tool_use":
    case "tool_call":
      return joining("assistant", partsOf(fields));
    case "reasoning":
    case "thinking":
      return joining("assistant", thoughts(fields));
    default:
      return typedDraft(type, fields, role);
  }
}

function typedDraft(type: string, fields: OwnFields, role: string): Draft | undefined {
  if (type.endsWith("_output") || type.endsWith("_call_result")) {
    return { role: "tool", parts: [responsePart(fields)], joins: false };
  }
  const local = LOCAL_CALLS.get(type);
  if (local !== undefined) return joining("assistant", [localCall(local, fields)]);
  if (type.endsWith("_call")) return joining("assistant", hostedParts(type, fields));
  const part = knownPart(fields);
  if (part !== undefined) return joining(role, [part]);
  return OF_MODEL.has(type) ? joining("assistant", [anyPart(fields)]) : undefined;
}

function partsOf(fields: OwnFields): MessagePart[] {
  const part = knownPart(fields);
  return part === undefined ? [] : [part];
}

/** Hidden reasoning makes no part. */
function thoughts(fields: OwnFields): MessagePart[] {
  return partsOf(fields).filter((part) => part.type !== "reasoning" || part.content !== "");
}

function localCall(name: string, fields: OwnFields): MessagePart {
  const id = firstText(fields, "call_id", "callId", "id");
  const given = own(fields, "action") ?? own(fields, "operation");
  return {
    type: "tool_call",
    ...(id === undefined ? {} : { id }),
    name,
    ...(given === undefined ? {} : { arguments: argumentsIn(given) }),
  };
}

/** The conventions' words for roles. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["developer", "system"],
  ["function", "tool"],
]);

function roleOf(role: string): string {
  return ROLES.get(role) ?? role;
}

/** A message with a role and content: Chat Completions', Anthropic's, the Responses API's. */
export function roleDraft(fields: OwnFields): Draft | undefined {
  const named = textIn(fields, "role");
  if (named === undefined || named === "") return undefined;
  const role = roleOf(named);
  const reason = firstText(fields, "finish_reason", "stop_reason", "finishReason", "stopReason");
  const isItem = textIn(fields, "type") === "message" && role === "assistant";
  if (role === "tool" && !Array.isArray(own(fields, "parts"))) {
    return { role, parts: toolParts(fields), reason, joins: false };
  }
  const name = textIn(fields, "name");
  return { role, parts: messageParts(fields), name, reason, joins: isItem };
}

/** A tool's message is the result, unless it holds results as blocks. */
function toolParts(fields: OwnFields): MessagePart[] {
  const content = own(fields, "content");
  if (Array.isArray(content) && content.length > 0 && content.every(isResult)) {
    return contentParts(content);
  }
  return [responsePart({ ...fields, id: undefined })];
}

const RESULT_TYPES: ReadonlySet<string> = new Set([
  ...["tool_result", "tool-result", "tool_call_response", "tool-error", "tool-output-denied"],
  ...["tool-approval-response", "tool_approval_response"],
]);

function isResult(block: unknown): boolean {
  const type = textIn(fieldsIn(block) ?? {}, "type");
  return RESULT_TYPES.has(type ?? "");
}

function messageParts(fields: OwnFields): MessagePart[] {
  // LangChain's messages have the provider's other fields in an object of their own.
  const more = objectIn(fields, "additional_kwargs") ?? {};
  const thought =
    firstText(fields, "reasoning_content", "reasoning") ?? textIn(more, "reasoning_content");
  const refusal = textIn(fields, "refusal") ?? textIn(more, "refusal");
  const calls = own(fields, "tool_calls");
  const known = Array.isArray(calls) ? calls : [];
  const called = own(fields, "function_call") ?? own(more, "function_call");
  const list = known.length > 0 || called === undefined ? known : [called];
  const asked = list.map((call) => callPart(fieldsIn(call) ?? {}));
  const parts = contentParts(own(fields, "parts") ?? own(fields, "content"));
  const has = (type: string) => parts.some((part) => part.type === type);
  const isKnown = thought === undefined || thought === "" || has("reasoning");
  return [
    ...(isKnown ? [] : [reasoningPart(thought)]),
    ...(has("server_tool_call") ? [] : hostedCalls(own(more, "tool_outputs"))),
    // Some providers repeat the calls in the content.
    ...(asked.length === 0 ? parts : parts.filter((part) => !isCall(part))),
    ...(refusal === undefined ? [] : contentParts(refusal)),
    ...spokenParts(fields),
    ...asked,
  ];
}

/** Calls of the provider's own tools. LangChain has pictures in the content, too. */
function hostedCalls(items: unknown): readonly MessagePart[] {
  if (!Array.isArray(items)) return [];
  return items
    .map((item) => fieldsIn(item) ?? {})
    .filter((fields) => textIn(fields, "type") !== "image_generation_call")
    .flatMap((fields) => itemDraft(fields, "assistant")?.parts ?? []);
}

/** A Chat Completions answer as audio has no content. Its transcript is beside the data. */
function spokenParts(fields: OwnFields): MessagePart[] {
  const audio = objectIn(fields, "audio");
  if (audio === undefined) return [];
  const [words, data] = [textIn(audio, "transcript"), textIn(audio, "data")];
  const part = mediaPart("audio", data === undefined ? { audio } : { data });
  return [...contentParts(words), ...(part === undefined ? [] : [part])];
}

function reasoningPart(content: string): MessagePart {
  return { type: "reasoning", content };
}

/** Also the chunks of a call's arguments in a stream. */
function isCall({ type }: MessagePart): boolean {
  return type === "tool_call" || type === "input_json_delta";
}

function joining(role: string, parts: readonly MessagePart[]): Draft {
  return { role, parts, joins: true };
}
