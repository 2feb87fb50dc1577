import { fieldsOf, listOf, textOf } from "../core/narrow.ts";

/** The texts of content blocks, if there are any. */
export function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return textOf(content);
  const texts = (listOf(content) ?? [])
    .map((block) => fieldsOf(block))
    .filter((block) => block?.type === "text")
    .map((block) => textOf(block?.text) ?? "");
  return textOf(texts.join("\n"));
}
