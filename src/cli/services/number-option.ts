import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/**
 * Reads a size such as `1048576`, `64MiB` or `1GiB`.
 *
 * @returns bytes; `fallback` where the option was not given.
 * @throws CliError naming the option, when it is no such size or out of its range.
 */
export function bytesOption(
  option: string,
  text: string | undefined,
  fallback: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const [, digits = "", unit = ""] = /^(\d{1,12})\s*([a-z]*)$/i.exec(text) ?? [];
  const bytes = Number(digits || Number.NaN) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isSafeInteger(bytes) && bytes >= least && bytes <= most) return bytes;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(
    `${option}: expected bytes ${range}, such as 65536, 64MiB or 1GiB; got "${safe(text)}"`,
  );
}

/** The longest time that an option in seconds may be. */
export const YEAR_S = 31_536_000;

/**
 * Reads a whole number.
 *
 * @throws CliError naming the option, when it is none in its range.
 */
export function countOption(
  option: string,
  text: string | undefined,
  fallback: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(`${option}: expected a whole number ${range}, got "${safe(text)}"`);
}

/**
 * Reads a rate, which may have a fraction.
 *
 * @throws CliError naming the option, when it is no number above 0.
 */
export function rateOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate > 0) return rate;
  throw new CliError(`${option}: expected lines a second, above 0; got "${safe(text)}"`);
}
