import { roundedText } from "./decimal.ts";

/** Longest ID or name, in UTF-16 units. Neither lines that are read nor audit rows have longer ones. */
export const MOST_NAME = 4_096;

/** Default for the longest line of a recording that readers accept, in bytes without its line end: 16 MiB. */
export const MOST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Most bytes of JSON (UTF-8) of a value in an audit row: 12 MiB. A recording cuts these values at the same length, so
 * that its replay makes the same rows. One such value and the rest of its event fit into a line.
 */
export const MOST_CONTENT_BYTES = 12 * 1024 * 1024;

/** Most bytes of JSON of a value, or of an event in the audit log: 32 MiB. No log or service accepts a longer text. */
export const MOST_JSON_BYTES = 32 * 1024 * 1024;

/**
 * The form in rows and recordings of values that JSON does not know. They have no error messages, which are operator
 * text.
 */
export const CONTENT_FORMS = { binary: "base64" } as const;

/**
 * The largest double below 2^63. An OTLP integer is signed, with 64 bits, and a larger one makes the whole request
 * invalid.
 */
export const MOST_INT = 2 ** 63 - 1024;

/** Most decimal places. A smaller amount is written as zero. */
const MOST_DIGITS = 12;

/** A cost as decimal text. `String` writes very small and very large numbers with an exponent. */
export function decimalText(cost: number | bigint): string {
  const text = String(cost);
  if (!text.includes("e")) return text;
  if (Math.abs(Number(cost)) >= 1) return String(BigInt(cost));
  return roundedText(Number(cost), MOST_DIGITS);
}
