import type { Instant } from "../../events/door.ts";
import { count, counted, durationText, highest } from "../../events/format/door.ts";
import { padToWidth, widthOf } from "./text.ts";

export { count, counted };

/** The time from one instant to another, short: `850 µs`, `41 ms`, `1.2 s`, `3 h 5 min`. */
export function duration(from: Readonly<Instant>, to: Readonly<Instant>): string {
  return durationText((to[0] - from[0]) * 1000 + (to[1] - from[1]) / 1e6);
}

/**
 * Rows as text in columns, two spaces between them; the first row is the heading. Columns whose
 * cells are all numbers stand to the right.
 *
 * @param rows cells that have gone through `safe`.
 */
export function table(rows: readonly (readonly string[])[]): string[] {
  const count = highest(rows.map((row) => row.length));
  const columns = Array.from({ length: count }, (_, at) => rows.map((row) => row[at] ?? ""));
  const widths = columns.map((cells) => highest(cells.map(widthOf)));
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
