import type { NewLine } from "./log-line.ts";

/** Longest text of a line that the journal takes, in bytes of UTF-8: 64 MiB. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Longest tenant, dialect and key, in UTF-16 units. */
const MAX_NAME = 64 * 1024;

/** A line's share of a write besides its text, about. */
const AROUND = 128;

/**
 * @throws RangeError naming the line, from 0, and the field, when the journal could not give a line
 *   back as it came.
 */
export function checkLines(lines: readonly NewLine[]): void {
  for (const [index, { dialect, key, tenant, text }] of lines.entries()) {
    const place = `lines[${index}]`;
    if (text.includes("\n")) throw new RangeError(`${place}.text: expected no line feed in it`);
    // A UTF-16 unit takes at most three bytes: only very long lines are measured.
    if (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new RangeError(`${place}.text: expected at most ${MAX_TEXT_BYTES} bytes`);
    }
    for (const [field, value] of Object.entries({ dialect, key, tenant })) {
      if (value === undefined || value.length <= MAX_NAME) continue;
      throw new RangeError(`${place}.${field}: expected at most ${MAX_NAME} characters`);
    }
  }
}

/** Bytes of the lines in memory, about. */
export function linesSize(lines: readonly NewLine[]): number {
  return lines.reduce((sum, { text }) => sum + text.length + AROUND, 0);
}
