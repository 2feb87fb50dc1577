import { isCount } from "./option-checks.ts";
import type { AnswerForm } from "./users-functions.ts";

/**
 * A point in time: whole seconds since the Unix epoch, and nanoseconds within the second (0 to 999,999,999). A `Date`
 * would lose the nanoseconds that the source systems record.
 *
 * It has the shape of OpenTelemetry's `HrTime`, so that it reaches a span without conversion.
 */
export type Instant = [seconds: number, nanoseconds: number];

/** 2262-04-11T23:47:16Z: the last second whose nanoseconds fit into 63 bits. */
const LAST_SECOND = 9_223_372_036;

/**
 * Whether a span can start or end at this time. OTLP counts nanoseconds since 1970, and backends store 63 bits. A
 * receiver of OTLP/JSON refuses a whole request for one invalid time.
 */
export function isSpanTime(at: Readonly<Instant>): boolean {
  return at[0] >= 0 && at[0] < LAST_SECOND;
}

/** The valid answers of a `clock` that an application gives. */
export const TIME_ANSWER: AnswerForm<Instant> = {
  option: "clock",
  expected: "seconds since 1970 and nanoseconds",
  isRequired: true,
  read(given) {
    if (!Array.isArray(given)) return undefined;
    const [seconds, nanoseconds]: readonly unknown[] = given;
    if (!isCount(seconds) || !isCount(nanoseconds) || nanoseconds >= 1e9) return undefined;
    return isSpanTime([seconds, nanoseconds]) ? [seconds, nanoseconds] : undefined;
  },
};

/** Negative, zero or positive if `a` is before, at or after `b`. */
export function compareInstants(a: Readonly<Instant>, b: Readonly<Instant>): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** Whether a time is known and not before `from`. */
export function isSince(at: Readonly<Instant> | undefined, from: Readonly<Instant>): boolean {
  return at !== undefined && compareInstants(at, from) >= 0;
}

export function isAt(a: Readonly<Instant>, b: Readonly<Instant>): boolean {
  return compareInstants(a, b) === 0;
}

/** `at` moved by `ms` milliseconds, which may be negative and may have a fraction. */
export function addMilliseconds(at: Readonly<Instant>, ms: number): Instant {
  const wholeSeconds = Math.trunc(ms / 1000);
  const nanos = Math.round((ms - wholeSeconds * 1000) * 1e6);
  let seconds = at[0] + wholeSeconds;
  let rest = at[1] + nanos;
  if (rest >= 1e9) {
    rest -= 1e9;
    seconds += 1;
  } else if (rest < 0) {
    rest += 1e9;
    seconds -= 1;
  }
  return [seconds, rest];
}

/** `ms` milliseconds before `at`, but not before 1970. A non-positive `ms` is treated as 0. */
export function subtractMs(at: Instant, ms: number): Instant {
  return ms > 0 && at[0] > 0 ? addMilliseconds(at, -Math.min(ms, at[0] * 1000)) : at;
}

/** Milliseconds from `from` to `to`, with the nanoseconds as a fraction. */
export function millisecondsBetween(from: Readonly<Instant>, to: Readonly<Instant>): number {
  return (to[0] - from[0]) * 1000 + (to[1] - from[1]) / 1e6;
}

/** Milliseconds since the Unix epoch, with the nanoseconds as a fraction (not exact to the ns). */
export function toMilliseconds(at: Readonly<Instant>): number {
  return at[0] * 1000 + at[1] / 1e6;
}

/** The instant of a JavaScript time in milliseconds since the Unix epoch. */
export function fromMilliseconds(ms: number): Instant {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.round((ms - seconds * 1000) * 1e6);
  return nanos >= 1e9 ? [seconds + 1, 0] : [seconds, nanos];
}

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses an RFC 3339 time to the nanosecond.
 *
 * Digits beyond the ninth are dropped. A leap second (`:60`) is read as the second after it. Returns `undefined` if
 * the text is not an RFC 3339 time or has no valid date.
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
  // setUTCFullYear accepts the years 0 to 99. Date.UTC would add 1900 to them.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day ? date.getTime() / 86_400_000 : undefined;
}

/** The last second that was written, and its text: consecutive times mostly share the second. */
let lastSecond = Number.NaN;
let lastText = "";

/**
 * Writes an instant as entelix's chrono does: UTC with `Z` and the fewest of 0, 3, 6 or 9 sub-second digits that
 * lose nothing.
 */
export function formatRfc3339(at: Readonly<Instant>): string {
  const [second, nanos] = at;
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -5);
    lastSecond = second;
  }
  const whole = lastText;
  if (nanos === 0) return `${whole}Z`;
  const unit = nanos % 1_000_000 === 0 ? 1_000_000 : nanos % 1_000 === 0 ? 1_000 : 1;
  // The leading 1 keeps the zeros of the fraction.
  const digits = String((1_000_000_000 + nanos) / unit);
  return `${whole}.${digits.slice(1)}Z`;
}

const ZERO = 0x30;
const COLON = 0x3a;
/** Length of `2026-04-29T`. */
const DATE_LENGTH = 11;
/** Length of `2026-04-29T12:00:00Z`. */
const SHORTEST = 20;
/** Length of the same with nine digits of a second. */
const LONGEST = 30;

/** The last text that was read, and its time: a time is often read twice, and several lines share it. */
let latest = "1970-01-01T00:00:00Z";
let latestTime: Readonly<Instant> = [0, 0];
/** The last date that was read. Lines of one file mostly share it, and reading it is most of the cost. */
let date = "1970-01-01T";
let dateStart = 0;

/**
 * `parseRfc3339`, but several times as fast for times in UTC on the same day as the one before. Returns `undefined`
 * for any other text.
 */
export function readTimestamp(text: string): Readonly<Instant> | undefined {
  if (text === latest) return latestTime;
  const time = read(text);
  if (time !== undefined) {
    latest = text;
    latestTime = time;
  }
  return time;
}

function read(text: string): Instant | undefined {
  const last = text.length - 1;
  if (last < SHORTEST - 1 || last > LONGEST - 1 || text.charCodeAt(last) !== 0x5a) {
    return parseRfc3339(text);
  }
  if (!text.startsWith(date) && !enterDate(text)) return parseRfc3339(text);
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return parseRfc3339(text);
  const hours = twoDigits(text, DATE_LENGTH);
  const minutes = twoDigits(text, 14);
  const inMinute = twoDigits(text, 17);
  // The slow reader handles a leap second (60) and every malformed text.
  if (!(hours < 24 && minutes < 60 && inMinute < 60)) return parseRfc3339(text);
  const seconds = dateStart + hours * 3600 + minutes * 60 + inMinute;
  if (last === SHORTEST - 1) return [seconds, 0];
  if (text.charCodeAt(SHORTEST - 1) !== 0x2e || last === SHORTEST) return parseRfc3339(text);
  let nanos = 0;
  for (let at = SHORTEST; at < SHORTEST + 9; at += 1) {
    const digit = at < last ? text.charCodeAt(at) - ZERO : 0;
    if (!(digit >= 0 && digit <= 9)) return parseRfc3339(text);
    nanos = nanos * 10 + digit;
  }
  return [seconds, nanos];
}

/** `NaN` unless both characters are digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function enterDate(text: string): boolean {
  const next = text.slice(0, DATE_LENGTH);
  const start = parseRfc3339(`${next}00:00:00Z`);
  if (start === undefined) return false;
  date = next;
  dateStart = start[0];
  return true;
}

/**
 * A time as entelix's chrono writes it: UTC with `Z` and 0, 3, 6 or 9 sub-second digits.
 *
 * @throws RangeError for a text that is not an RFC 3339 time.
 */
export function inUtc(timestamp: string | Readonly<Instant>): string {
  return formatRfc3339(instantOf(timestamp));
}

/** @throws RangeError for a text that is not an RFC 3339 time. */
export function instantOf(timestamp: string | Readonly<Instant>): Readonly<Instant> {
  const instant = typeof timestamp === "string" ? readTimestamp(timestamp) : timestamp;
  if (instant !== undefined) return instant;
  throw new RangeError(`timestamp: expected an RFC 3339 time, got ${JSON.stringify(timestamp)}`);
}
