import type { Instant } from "../../events/door.ts";
import { count, counted, durationText, highest } from "../../events/format/door.ts";
import { padToWidth, widthOf } from "./text.ts";

export { count, counted };

/** The time between two instants as text: `850 µs`, `41 ms`, `1.2 s`, `3 h 5 min`. */
export function duration(from: Readonly<Instant>, to: Readonly<Instant>): string {
  return durationText((to[0] - from[0]) * 1000 + (to[1] - from[1]) / 1e6);
}

/**
 * Formats rows as columns with two spaces between them. Columns of numbers are aligned to the right.
 *
 * @param rows the heading first. Data in cells must be escaped with `safe`.
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
