import { padToWidth, widthOf } from "./text-width.ts";

/**
 * Rows as text in columns, two spaces between them; the first row is the heading. Columns whose
 * cells are all numbers stand to the right.
 *
 * @param rows cells that have gone through `safe`.
 */
export function table(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const columns = Array.from({ length: count }, (_, at) => rows.map((row) => row[at] ?? ""));
  const widths = columns.map((cells) => Math.max(...cells.map(widthOf)));
  const numeric = columns.map((cells) => cells.slice(1).every((cell) => /^[\d,.]*$/.test(cell)));
  return rows.map((row) =>
    widths
      .map((width, at) => {
        const cell = row[at] ?? "";
        return numeric[at] ? " ".repeat(width - widthOf(cell)) + cell : padToWidth(cell, width);
      })
      .join("  ")
      .trimEnd(),
  );
}
