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
