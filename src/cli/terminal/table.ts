import type { Instant } from "../../events/instant.ts";
import { padToWidth, widthOf } from "./text.ts";

/** A number of things with thousands separated: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A number of things and what they are: `1 span`, `2 spans`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${count(value)} ${value === 1 ? thing : things}`;
}

/** The time from one instant to another, short: `850 µs`, `41 ms`, `1.2 s`, `3 h 5 min`. */
export function duration(from: Readonly<Instant>, to: Readonly<Instant>): string {
  const ms = (to[0] - from[0]) * 1000 + (to[1] - from[1]) / 1e6;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

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
