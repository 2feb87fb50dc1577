import type { ContentPart } from "../../audit/wire/content-part.ts";
import { stringifyExact } from "../../events/exact-json.ts";
import { isJsonObject } from "../dialect.ts";
import type { ContentBlock } from "./values.ts";

/**
 * A block of a user's input as a part of an audit entry, with whatever else it holds. Upstream admits
 * text, images and documents only; any other block becomes its JSON as text, so that nothing is lost.
 */
export function contentPart(block: ContentBlock): ContentPart {
  const { type, text, source } = block;
  if (type === "text" && typeof text === "string") return { ...block, type, text };
  if ((type === "image" || type === "document") && isJsonObject(source)) {
    const { data, media_type } = source;
    if (typeof data === "string" && typeof media_type === "string") {
      return { ...block, type, source: { ...source, kind: "base64", media_type, data } };
    }
  }
  return { type: "text", text: stringifyExact(block) };
}
