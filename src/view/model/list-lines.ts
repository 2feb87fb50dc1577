import type { RunRow } from "./run-index.ts";

/** A line of the table. */
export interface ListLine {
  readonly row: RunRow;
  /** 0, or how many rows it is folded below. */
  readonly level: number;
  /** Whether the rows below it are shown. */
  readonly isOpen: boolean;
}

/**
 * The lines of some rows: below an open row those that it stands for.
 *
 * @param opened IDs of rows.
 */
export function linesOf(
  rows: readonly RunRow[],
  opened: ReadonlySet<string>,
  level = 0,
): readonly ListLine[] {
  const lines: ListLine[] = [];
  for (const row of rows) {
    const isOpen = row.folded !== undefined && opened.has(row.id);
    lines.push({ row, level, isOpen });
    // Conversations have runs, and these have pauses, which have nothing.
    if (isOpen) for (const line of linesOf(row.folded.rows, opened, level + 1)) lines.push(line);
  }
  return lines;
}

/** Position of the line that a line is folded below; `undefined` if it is folded below none. */
export function lineAbove(lines: readonly ListLine[], position: number): number | undefined {
  const level = lines[position]?.level ?? 0;
  for (let at = position - 1; at >= 0; at -= 1) {
    if ((lines[at]?.level ?? 0) < level) return at;
  }
  return undefined;
}
