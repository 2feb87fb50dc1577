import type { Outline, OutlineItem } from "../../model/outline.ts";
import { rowNotes } from "../../model/row-notes.ts";
import type { RunModel } from "../../model/run-model.ts";
import { shortName } from "../../model/span-words.ts";
import { remPx, textWidth } from "../shell/text-width.ts";
import { MAX_INDENT } from "./timeline-row.tsx";

/** Widths in rem, as in timeline.css. */
const INDENT = 0.9;
const SIGNS = 4.2;
const NOTE_FONT = 0.8125;
const FIRST_FAILURE = 6.5;
const FAILED = 1.2;
const BETWEEN = 0.5;
/** Longest name that widens the column, in characters. */
const MOST_NAME = 80;

/** Width that the longest row needs for its name and its notes, in pixels. */
export function nameWidth({ byNode }: Outline, model: RunModel): number {
  const widths = new Map<string, number>();
  const widthOf = (text: string, size: number) => {
    const key = `${size} ${text}`;
    const known = widths.get(key) ?? textWidth(text.slice(0, MOST_NAME), size);
    widths.set(key, known);
    return known;
  };
  const rem = remPx();
  let widest = 0;
  const measure = (item: OutlineItem) => {
    const { level, node } = item;
    const notes = Object.values(rowNotes(item, model)).filter((note) => note !== undefined);
    const isFirst = model.failures.length > 1 && node === model.failures[0];
    const fixed =
      SIGNS +
      INDENT * (Math.min(level, MAX_INDENT) - 1) +
      BETWEEN * notes.length +
      (node.span.failed ? FAILED : 0) +
      (isFirst ? FIRST_FAILURE : 0);
    const texts = notes.map((note) => widthOf(note, NOTE_FONT));
    const text = texts.reduce((sum, width) => sum + width, widthOf(shortName(node.span), 1));
    widest = Math.max(widest, fixed * rem + text);
  };
  // A fold is not wider than its calls.
  for (const item of byNode.values()) measure(item);
  return Math.ceil(widest);
}
