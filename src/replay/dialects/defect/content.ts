import type { ContentPart } from "../../../audit/door.ts";
import { type JsonValue, stringifyExact } from "../../../events/door.ts";
import { isJsonObject } from "../dialect.ts";
import type { AcpContentBlock, ToolCallFields } from "./events.ts";

/** The text of a text block. */
export function blockText(block: AcpContentBlock): string | undefined {
  return block.type === "text" && typeof block.text === "string" ? block.text : undefined;
}

/**
 * A block of the Agent Client Protocol as a part of an audit message. A block without a counterpart becomes its JSON as
 * text.
 */
export function toContentPart(block: AcpContentBlock): ContentPart {
  const text = blockText(block);
  if (text !== undefined) return { type: "text", text };
  return mediaPart(block) ?? { type: "text", text: stringifyExact(block) };
}

function mediaPart(block: AcpContentBlock): ContentPart | undefined {
  const { data, mimeType, name, resource, type, uri } = block;
  switch (type) {
    case "image":
    case "audio":
      if (typeof data === "string" && data !== "" && typeof mimeType === "string") {
        return { type, source: { kind: "base64", media_type: mimeType, data } };
      }
      return typeof uri === "string"
        ? { type, source: { kind: "url", url: uri, media_type: textOrNull(mimeType) } }
        : undefined;
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return {
        type: "document",
        source: { kind: "url", url: uri, media_type: textOrNull(mimeType) },
        name: textOrNull(name),
      };
    case "resource": {
      if (!isJsonObject(resource)) return undefined;
      const { blob, mimeType: media } = resource;
      if (typeof blob !== "string" || typeof media !== "string") return undefined;
      return {
        type: "document",
        source: { kind: "base64", media_type: media, data: blob },
        name: textOrNull(resource.uri),
      };
    }
    default:
      return undefined;
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The texts of a tool call's content, joined by line ends. `undefined` without any. */
export function textOf(fields: ToolCallFields): string | undefined {
  const texts: string[] = [];
  for (const { content } of fields.content ?? []) {
    if (isJsonObject(content) && typeof content.text === "string") texts.push(content.text);
  }
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The result of a call: its raw output, else its text, else its content. */
export function outputOf(fields: ToolCallFields): JsonValue {
  const { content, rawOutput } = fields;
  if (rawOutput !== undefined && rawOutput !== null) return rawOutput;
  return textOf(fields) ?? (content?.length ? content : null);
}
