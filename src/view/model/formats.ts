/** Converts decimal text in ns to Unix time in ms with a fraction. Exact to 1 µs. */
export function msOf(ns: string): number {
  // In two parts: a number cannot hold 19 digits.
  const whole = ns.length > 6 ? Number(ns.slice(0, -6)) : 0;
  return whole + Number(ns.slice(-6)) / 1e6;
}

/** Compares times in decimal text: the longer one is later. */
export function compareNs(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : Number(one > other));
}

/** Precision of a time. */
export type Precision = "minutes" | "seconds" | "milliseconds";

/**
 * Date and time in the reader's time zone: `2026-11-26 17:04:05`.
 *
 * @param ms Unix time in ms.
 * @param offset minutes that the time zone is ahead of UTC. Default: this computer's at that time.
 */
export function localTime(
  ms: number,
  precision: Precision = "seconds",
  offset = -new Date(ms).getTimezoneOffset(),
): string {
  const shifted = new Date(ms + offset * 60_000);
  if (Number.isNaN(shifted.getTime())) return "unknown time";
  return shifted.toISOString().slice(0, LENGTHS[precision]).replace("T", " ");
}

/** The same time in UTC, for a title beside the local time: `2026-11-26T16:04:05.123Z`. */
export function utcTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "unknown time" : date.toISOString();
}

/**
 * How long ago a time was, in its largest unit: `12 s ago`, `5 min ago`, `3 h ago`, `8 d ago`. `undefined` for times to
 * come: the clocks of two machines differ.
 *
 * @param ms Unix time in ms, as `now`.
 */
export function agoText(ms: number, now: number): string | undefined {
  const seconds = Math.floor((now - ms) / 1000);
  if (!(seconds >= 0)) return undefined;
  const [length, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, "s"];
  return `${Math.floor(seconds / length)} ${unit} ago`;
}

/** Units of time by their length in seconds, the largest first. */
const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

const LENGTHS: Readonly<Record<Precision, number>> = { minutes: 16, seconds: 19, milliseconds: 23 };

/** US dollars, short: `$0`, `<$0.0001`, `$0.0042`, `$12.30`, `$1,234.50`. Other text is returned unchanged. */
export function dollars(decimal: string): string {
  const value = Number(decimal);
  if (decimal.trim() === "" || !Number.isFinite(value)) return decimal;
  if (value < 0) return `-${dollars(String(-value))}`;
  if (value === 0) return "$0";
  if (value < 0.0001) return "<$0.0001";
  return `$${(value < 1 ? small : large).format(value)}`;
}

const small = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});
const large = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
