import {
  approvalRequest,
  approvalResponse,
  callPart,
  deniedPart,
  errorPart,
  responsePart,
  serverCallPart,
  serverResponsePart,
  textPart,
} from "./call-parts.ts";
import { isKnownPart, isKnownType, isPart } from "./conventional.ts";
import { mediaPart } from "./media-part.ts";
import type { MessagePart } from "./message.ts";
import {
  entriesIn,
  fieldsIn,
  firstText,
  isNothing,
  jsonText,
  listIn,
  type OwnFields,
  objectIn,
  own,
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
    case "tool-error":
      return errorPart(fields);
    case "tool-output-denied":
      return deniedPart(fields);
    case "tool-approval-request":
      return approvalRequest(fields);
    case "tool-approval-response":
    case "mcp_approval_response":
      return approvalResponse(fields);
    case "source":
    case "source-url":
    case "source-document":
      return sourcePart(fields);
    case "non_standard":
      return nonStandard(fields);
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

/** A document or a file with its text in the block, not as base64. */
function documentText(type: string, fields: OwnFields): MessagePart | undefined {
  if (type === "text-plain") return wordsIn(fields, "text");
  if (type === "resource") return wordsIn(objectIn(fields, "resource") ?? {}, "text");
  const name = type === "document" ? "source" : type === "file" ? "data" : undefined;
  const inner = name === undefined ? undefined : objectIn(fields, name);
  if (inner === undefined || textIn(inner, "type") !== "text") return undefined;
  return wordsIn(inner, name === "data" ? "text" : "data");
}

/** A page or document that an answer cites. */
function sourcePart(fields: OwnFields): MessagePart | undefined {
  const uri = textIn(fields, "url");
  const mime = textIn(fields, "mediaType");
  if (uri === undefined && mime === undefined) return undefined;
  const kept = { id: firstText(fields, "id", "sourceId"), uri, mime_type: mime };
  const named = { ...kept, title: textIn(fields, "title"), filename: textIn(fields, "filename") };
  const known = Object.entries(named).filter(([, value]) => value !== undefined);
  return { type: "source", ...Object.fromEntries(known) };
}

/** LangChain's block for a provider's own one. */
function nonStandard(fields: OwnFields): MessagePart | undefined {
  const inner = objectIn(fields, "value");
  return inner === undefined ? undefined : knownPart(inner);
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
  const called =
    objectIn(fields, "functionCall") ??
    objectIn(fields, "function_call") ??
    objectIn(fields, "toolUse");
  if (called !== undefined) return callPart(called);
  const response = objectIn(fields, "functionResponse") ?? objectIn(fields, "function_response");
  if (response !== undefined) return responsePart(response);
  const code = objectIn(fields, "executableCode") ?? objectIn(fields, "executable_code");
  if (code !== undefined) return serverCallPart({ ...code, name: CODE_EXECUTION });
  const ran = objectIn(fields, "codeExecutionResult") ?? objectIn(fields, "code_execution_result");
  if (ran !== undefined) return serverResponsePart({ ...ran, type: CODE_EXECUTION });
  const given = objectIn(fields, "toolResult");
  if (given !== undefined) return responsePart({ ...given, content: bedrockContent(given) });
  const thought = objectIn(fields, "reasoningContent");
  if (thought !== undefined) return { type: "reasoning", content: reasoningIn(thought) };
  return bedrockMedia(fields) ?? mediaPart("", fields);
}

/** Bedrock's blocks of a result: texts, values and media, which have no type. */
function bedrockContent(result: OwnFields): unknown {
  const blocks = (listIn(result, "content") ?? []).map((each) => {
    const block = fieldsIn(each) ?? {};
    return own(block, "json") ?? textIn(block, "text") ?? bedrockMedia(block) ?? each;
  });
  return blocks.length === 1 ? blocks[0] : blocks;
}

/** `{ image: { format: "png", source: { bytes } } }`, and the same with a document, audio or video. */
function bedrockMedia(fields: OwnFields): MessagePart | undefined {
  for (const kind of ["image", "document", "audio", "video"]) {
    const media = objectIn(fields, kind);
    const source = media === undefined ? undefined : objectIn(media, "source");
    if (media === undefined || source === undefined) continue;
    const text = kind === "document" ? textIn(source, "text") : undefined;
    if (text !== undefined) return textPart(text);
    const format = textIn(media, "format");
    const isFile = kind === "document";
    const known = isFile ? format === "pdf" : format !== undefined;
    const mime_type = known ? `${isFile ? "application" : kind}/${format}` : undefined;
    return mediaPart(kind, { mime_type, source: { ...source, ...objectIn(source, "s3Location") } });
  }
  return undefined;
}

const CODE_EXECUTION = "code_execution";

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
