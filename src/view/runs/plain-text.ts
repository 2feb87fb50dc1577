/** Markdown without its marks, for texts on one line: emphasis, code, headings, list items and tables. */
export function plainText(markdown: string): string {
  return markdown.split("\n").flatMap(plainLine).join("\n");
}

/** Nothing for a line that only has marks: a rule, a fence, the line below the head of a table. */
function plainLine(line: string): readonly string[] {
  if (FENCE.test(line) || (ONLY_MARKS.test(line) && line.includes("---"))) return [];
  const text = line.replace(BLOCK, "").replace(STRONG, "$1").replace(CODE, "$1");
  return [text.trimStart().startsWith("|") ? cells(text) : text];
}

/** A row of a table. */
function cells(row: string): string {
  const texts = row.split("|").map((cell) => cell.trim());
  return texts.filter((cell) => cell !== "").join(", ");
}

const FENCE = /^ {0,3}(?:```|~~~)/;
const ONLY_MARKS = /^[\s:|-]+$/;
const BLOCK = /^\s*(?:#{1,6}|[-*+])\s+/;
const STRONG = /\*\*([^*]+)\*\*/g;
const CODE = /`([^`]+)`/g;
