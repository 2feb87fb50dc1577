import { roundedText } from "./decimal.ts";

/** Longest id or name, in UTF-16 units: no line that is read has a longer one, and no audit row. */
export const MOST_NAME = 4_096;

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
