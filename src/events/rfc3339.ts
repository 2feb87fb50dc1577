import type { Instant } from "./instant.ts";

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses an RFC 3339 time to the nanosecond.
 *
 * Digits beyond the ninth are dropped; a leap second (`:60`) is read as the second after it.
 * Returns `undefined` when the text is no RFC 3339 time or names no real date.
 */
export function parseRfc3339(text: string): Instant | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHour, offsetMinute] =
    match;
  const h = Number(hour);
  const m = Number(minute);
  const s = Number(second);
  if (h > 23 || m > 59 || s > 60) return undefined;
  const days = daysSinceEpoch(Number(year), Number(month), Number(day));
  if (days === undefined) return undefined;
  let seconds = days * 86_400 + h * 3600 + m * 60 + s;
  if (sign !== undefined) {
    const oh = Number(offsetHour);
    const om = Number(offsetMinute);
    if (oh > 23 || om > 59) return undefined;
    const offset = oh * 3600 + om * 60;
    seconds += sign === "-" ? offset : -offset;
  }
  return [seconds, fraction === undefined ? 0 : Number(fraction.padEnd(9, "0"))];
}

function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  // setUTCFullYear takes the years 0 to 99 as they are; Date.UTC would read them as 1900 and on.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day ? date.getTime() / 86_400_000 : undefined;
}

/** The second written last, and its text: what is written at one time mostly has one second. */
let lastSecond = Number.NaN;
let lastText = "";

/**
 * Writes an instant as upstream's chrono does: UTC with `Z` and 0, 3, 6 or 9 sub-second digits, the
 * fewest that lose nothing.
 */
export function formatRfc3339(at: Readonly<Instant>): string {
  const [second, nanos] = at;
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -5);
    lastSecond = second;
  }
  const whole = lastText;
  if (nanos === 0) return `${whole}Z`;
  const digits = String(nanos).padStart(9, "0");
  if (nanos % 1_000_000 === 0) return `${whole}.${digits.slice(0, 3)}Z`;
  if (nanos % 1_000 === 0) return `${whole}.${digits.slice(0, 6)}Z`;
  return `${whole}.${digits}Z`;
}
