import { roundedText } from "./decimal.ts";

/** Longest id or name, in UTF-16 units: no line that is read has a longer one, and no audit row. */
export const MOST_NAME = 4_096;

/** Longest line of a recording, in bytes without its line end: 16 MiB. Readers reject longer ones unless told otherwise. */
export const MOST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Most bytes of JSON (UTF-8) that a value of an audit row has: 12 MiB. A recording cuts the values of rows at the same
 * length, so that its replay makes the same rows. One such value and what stands around it fit into a line.
 */
export const MOST_CONTENT_BYTES = 12 * 1024 * 1024;

/** Most bytes of JSON of a value, or of an event of the audit log: 32 MiB. No log or service takes a longer text. */
export const MOST_JSON_BYTES = 32 * 1024 * 1024;

/** How rows and recordings write what JSON does not know. An error's message is operator text: no row has it. */
export const CONTENT_FORMS = { binary: "base64" } as const;

/** The largest double below 2^63: an OTLP integer is signed, of 64 bits, and one beyond spoils its request. */
export const MOST_INT = 2 ** 63 - 1024;

/** Decimal places that are kept: a smaller sum is written as zero. */
const MOST_DIGITS = 12;

/** A cost as decimal text: `String` writes very small and very large ones with an exponent. */
export function decimalText(cost: number | bigint): string {
  const text = String(cost);
  if (!text.includes("e")) return text;
  if (Math.abs(Number(cost)) >= 1) return String(BigInt(cost));
  return roundedText(Number(cost), MOST_DIGITS);
}
