import type { JsonValue } from "../../events/exact-json.ts";
import { isJsonObject } from "../dialect.ts";
import type { ToolCallFields } from "./defect-event.ts";

/** The texts among the content of a tool call, one a line; `undefined` where there is none. */
export function textOf(fields: ToolCallFields): string | undefined {
  const texts: string[] = [];
  for (const { content } of fields.content ?? []) {
    if (isJsonObject(content) && typeof content.text === "string") texts.push(content.text);
  }
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** What the call gave back: its raw output, else its text, else its content as it came. */
export function outputOf(fields: ToolCallFields): JsonValue {
  const { content, rawOutput } = fields;
  if (rawOutput !== undefined && rawOutput !== null) return rawOutput;
  return textOf(fields) ?? (content?.length ? content : null);
}
