import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTaskListItemFromMarkdown } from "mdast-util-gfm-task-list-item";
import { gfmAutolinkLiteral } from "micromark-extension-gfm-autolink-literal";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";
import { BARE_LINKS } from "./bare-links.ts";

// Above these bounds, texts are shown as they are: some take the square of their marks or lines.
/** In UTF-16 units. */
export const LONGEST_MARKDOWN = 20_000;
const MOST_MARKS = 2_000;
const MOST_LINES = 1_000;
/**
 * The tree of a Markdown text: CommonMark with GitHub's tables, task lists, strikethrough and bare links. `undefined`:
 * the text is not Markdown, or too much work to parse.
 */
export function markdownTree(text: string): Root | undefined {
  if (text.length > LONGEST_MARKDOWN || !isMarkdown(text)) return undefined;
  try {
    return fromMarkdown(text, { extensions: EXTENSIONS, mdastExtensions: TREES });
  } catch {
    return undefined;
  }
}

const EXTENSIONS = [
  gfmAutolinkLiteral(),
  gfmStrikethrough({ singleTilde: false }),
  gfmTable(),
  gfmTaskListItem(),
];
const TREES = [
  BARE_LINKS,
  gfmStrikethroughFromMarkdown(),
  gfmTableFromMarkdown(),
  gfmTaskListItemFromMarkdown(),
];

/** Whether there is something to draw, and not too much of it. */
function isMarkdown(text: string): boolean {
  if (!SIGNS.test(text) || DEEP_LINE.test(text)) return false;
  return countOf(text, MARKS) <= MOST_MARKS && countOf(text, LINES) < MOST_LINES;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const SIGNS = /[*_~`[<>|#&\\]|^[ \t]*(?:[+-]|\d{1,9}[.)])[ \t]|^[ \t]*(?:--|==)|:\/\/|www\.|@/m;
const MARKS = /[*_~`[\]!<>|&\\]/g;
const LINES = /\n/g;
/** A line that opens 20 levels of quotes and lists. */
const DEEP_LINE = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){20}/m;

/** The address of a link if it is safe to open: of a website, or a mail address. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { href, protocol } = new URL(address);
  return PROTOCOLS.has(protocol) ? href : undefined;
}

const PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
