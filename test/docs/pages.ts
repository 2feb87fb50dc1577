import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** The pages for people, by their paths from the root. */
export const PAGES: readonly string[] = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The part of a page under a heading, up to the next one of its level or above. */
export function section(page: string, heading: string): string {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  if (start < 0) throw new Error(`no heading "${heading}"`);
  const level = levelOf(lines[start] ?? "");
  const length = lines
    .slice(start + 1)
    .findIndex((line) => levelOf(line) > 0 && levelOf(line) <= level);
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join("\n");
}

/** The rows of every table in a text, without the headings; code marks are taken off the cells. */
export function tableRows(text: string): string[][] {
  const rows: string[][] = [];
  let inBody = false;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) inBody = false;
    else if (/^\|[-|]+\|$/.test(line)) inBody = true;
    else if (inBody) rows.push(cellsOf(line));
  }
  return rows;
}

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

export function codeBlocks(page: string): CodeBlock[] {
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** The files that a page shows, by name: blocks of `js` below a line that begins with only the name. */
export function pageFiles(page: string): ReadonlyMap<string, string> {
  const blocks = page.matchAll(/^`([\w./-]+)`[^`\n]*:\n\n```js\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = "", program = ""]) => [name, program]));
}

/** The page without its code blocks. */
export function prose(page: string): string {
  return page.replace(/^```\w*\n.*?^```$/gms, "");
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim().replaceAll("`", ""));
}

function levelOf(line: string): number {
  return /^(#+) /.exec(line)?.[1]?.length ?? 0;
}
