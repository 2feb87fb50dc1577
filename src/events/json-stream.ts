import { Branch, FieldsNode, type JsonNode } from "./json-nodes.ts";

/**
 * All JSON of a value that nobody has measured, without its parts being kept: a large one would need many
 * times its size. `undefined` where it has more than `bytes` characters.
 */
export function streamed(node: JsonNode, bytes: number): string | undefined {
  const out = { text: "", left: bytes };
  return stream(node, out) ? out.text : undefined;
}

function stream(node: JsonNode, out: { text: string; left: number }): boolean {
  if (!(node instanceof Branch)) {
    // The size of a text is a lower bound.
    return node.size <= out.left && put(node.write(), out);
  }
  // A long list's size says at once that it can't fit.
  if (node.size > out.left) return false;
  const isFields = node instanceof FieldsNode;
  let fits = put(isFields ? "{" : "[", out);
  let isFirst = true;
  node.visit((part, name) => {
    if (!isFirst) out.text += ",";
    isFirst = false;
    fits = !isFields || put(`${name}:`, out);
    fits &&= typeof part === "string" ? put(part, out) : stream(part, out);
    return fits;
  });
  return fits && put(isFields ? "}" : "]", out);
}

function put(json: string, out: { text: string; left: number }): boolean {
  out.text += json;
  out.left -= json.length;
  return out.left >= 0;
}
