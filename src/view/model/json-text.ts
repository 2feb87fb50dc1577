const INDENT = "  ";

/** Levels that are indented. Otherwise the output for nested brackets has the square of their length. */
const DEEPEST = 100;

/**
 * Indents a text that is a JSON object or list; `undefined` for other text. It changes only white space, so numbers
 * keep all digits.
 */
export function indentedJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || parsedJson(text) === undefined) return undefined;
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
  const text = jsonLine(value);
  return indentedJson(text) ?? text;
}

/** A value as JSON on one line; a note in place of one that is nested too deeply. */
export function jsonLine(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** The value of a JSON text. `undefined`: it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
