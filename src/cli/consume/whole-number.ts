import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * An option that is a whole number.
 *
 * @throws CliError when it is none, or out of range.
 */
export function wholeNumber(
  option: string,
  text: string | undefined,
  { fallback, least, most }: { fallback: number; least: number; most: number },
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new CliError(`${option}: expected ${least} to ${most}, got "${safe(text)}"`);
  }
  return value;
}
