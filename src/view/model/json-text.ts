const INDENT = "  ";

/** Levels that are indented. A text of brackets alone would become one of the square of its length. */
const DEEPEST = 100;

/**
 * A text that is a JSON object or list, indented; `undefined` of any other text. Numbers keep all their
 * digits: the text is not written anew from values.
 */
export function indentedJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return undefined;
  let depth = 0;
  const line = () => `\n${INDENT.repeat(Math.min(depth, DEEPEST))}`;
  const pieces: string[] = [];
  let opened = false;
  for (const [token] of text.matchAll(TOKEN)) {
    switch (token) {
      case "{":
      case "[":
        depth++;
        pieces.push(token, line());
        break;
      case "}":
      case "]":
        depth--;
        if (opened) pieces.pop();
        else pieces.push(line());
        pieces.push(token);
        break;
      case ",":
        pieces.push(token, line());
        break;
      case ":":
        pieces.push(": ");
        break;
      default:
        pieces.push(token);
    }
    opened = token === "{" || token === "[";
  }
  return pieces.join("");
}

/** A value as indented JSON. */
export function jsonOf(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? "";
    return indentedJson(text) ?? text;
  } catch {
    return "(nested too deeply to be shown)";
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
