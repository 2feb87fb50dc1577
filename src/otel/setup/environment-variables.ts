import { diag } from "@opentelemetry/api";

/** A variable of the environment without blanks around it; `undefined` when unset or blank. */
export function environmentText(name: string): string | undefined {
  const text = process.env[name]?.trim();
  return text === "" ? undefined : text;
}

/**
 * A whole number of the environment.
 *
 * @returns the default when the variable is unset, and, with a warning, when it is out of range.
 */
export function environmentNumber(
  name: string,
  range: { readonly from: number; readonly to: number; readonly byDefault: number },
): number {
  const text = environmentText(name);
  if (text === undefined) return range.byDefault;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= range.from && value <= range.to) return value;
  const expected = `a whole number from ${range.from} to ${range.to}`;
  const taken = range.byDefault === Number.POSITIVE_INFINITY ? "no limit" : String(range.byDefault);
  warnOfVariable(name, text, expected, taken);
  return range.byDefault;
}

/** Says through the diagnostic logger that a variable can't be used, and what is taken instead. */
export function warnOfVariable(name: string, got: string, expected: string, taken: string): void {
  diag.warn(`entelix-otel: ${name}: expected ${expected}, got "${got}"; using ${taken}`);
}
