import { trimmedEnd } from "./format/text.ts";

const DECIMAL = /^(\d{1,40})(?:\.(\d{1,40}))?$/;

/** An exact decimal number from 0: `digits` divided by 10 to the power of `scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { digits: 0n, scale: 0 };

/**
 * Reads a decimal number from 0 such as `"0.0031"`, without sign and exponent.
 *
 * @param field name for the error.
 * @throws TypeError for any other value, including a JavaScript number, which has already lost digits.
 */
export function parseDecimal(value: unknown, field: string): Decimal {
  const decimal = readDecimal(value);
  if (decimal !== undefined) return decimal;
  const got = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : typeof value;
  throw new TypeError(
    `${field}: expected a decimal number from 0 as text, such as "0.0031", got ${got}`,
  );
}

/** The same, but `undefined` for any other value. */
export function readDecimal(value: unknown): Decimal | undefined {
  const match = typeof value === "string" ? DECIMAL.exec(value) : null;
  if (match === null) return undefined;
  const [, whole = "0", fraction = ""] = match;
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** The exact sum. Its scale is the larger of the two, as in entelix's decimals. */
export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) + scaled(b, scale), scale };
}

/** Whether `a` is greater than `b`. */
export function isGreater(a: Decimal, b: Decimal): boolean {
  const scale = Math.max(a.scale, b.scale);
  return scaled(a, scale) > scaled(b, scale);
}

/** As text with every digit of the scale: `"0.30"` stays `"0.30"`. */
export function formatDecimal({ digits, scale }: Decimal): string {
  if (scale === 0) return String(digits);
  const text = String(digits).padStart(scale + 1, "0");
  return `${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

/**
 * A number as decimal text with at most `places` decimal places and without trailing zeros: `0.3` for
 * 0.30000000000000004 and 12.
 */
export function roundedText(value: number, places: number): string {
  const text = value.toFixed(places);
  // From 10^21, `toFixed` uses an exponent.
  return text.includes(".") && !text.includes("e") ? trimmedEnd(trimmedEnd(text, "0"), ".") : text;
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}
