/** The error of a measurement with an invalid figure. */
export function unusable(field: string, given: unknown): RangeError {
  return new RangeError(`${field}: expected a figure from 0 to 2^53, got ${shortly(given)}`);
}

function shortly(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.slice(0, 80));
  return typeof given === "number" || typeof given === "bigint" ? String(given) : typeof given;
}

/** Larger values are invalid, and would spoil the sum permanently. */
const MOST = Number.MAX_SAFE_INTEGER;

const DECIMAL = /^\d{1,16}(\.\d{1,64})?$/;

/**
 * Reads a figure: a number or `bigint` from 0 to 2^53.
 *
 * @returns `undefined` for any other value.
 */
export function amountOf(value: unknown): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && number >= 0 && number <= MOST ? number : undefined;
}

/**
 * The value of a decimal string, as a double.
 *
 * @returns `undefined` for any other value, or below 0.
 */
export function decimalOf(value: unknown): number | undefined {
  if (typeof value === "number") return amountOf(value);
  return typeof value === "string" && DECIMAL.test(value) ? Number(value) : undefined;
}
